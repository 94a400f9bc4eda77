# Boots systemd with nothing but Duely's service, on a copy of this machine's files that is forgotten: sh boot-service.sh FOLDER REPOSITORY SETTINGS
# Run it by unshare --mount --pid --fork --ipc --uts --kill-child. Its control groups are in a group of their own.
set -e
if [ "$4" = "" ]; then
  mount --make-rprivate /
  mount -t tmpfs tmpfs "$1"
  mkdir "$1/up" "$1/work" "$1/root" "$1/groups"
  mount -t cgroup -o none,name=systemd cgroup "$1/groups"
  mkdir -p "$1/groups/duely-test"
  echo $$ > "$1/groups/duely-test/cgroup.procs"
  exec unshare --cgroup sh "$0" "$1" "$2" "$3" inside
fi
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"
cd "$1/root"
for one in run tmp dev; do mount -t tmpfs tmpfs $one; done
for one in null zero random urandom; do
  touch dev/$one
  mount --bind /dev/$one dev/$one
done
mount -t proc proc proc
mount --rbind /sys sys
# Without the controllers of this machine: only the hierarchy by which systemd knows its processes.
printf '#subsys_name\thierarchy\tnum_cgroups\tenabled\n' > run/groups
mount --bind run/groups proc/cgroups
mount -t tmpfs tmpfs sys/fs/cgroup
mkdir sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
mkdir -p old srv/duely
mount --bind "$2" srv/duely
printf '%s\n' "$3" > etc/duely.env
chroot . useradd --system --home-dir /srv/duely duely
rm -rf etc/systemd/system/*.wants
cp srv/duely/deploy/duely.service etc/systemd/system/
printf '[Unit]\n' > etc/systemd/system/network-online.target
printf '[Unit]\nWants=duely.service\n' > etc/systemd/system/default.target
# Not chroot, in which there are no user namespaces.
pivot_root . old
cd /
umount -l old
exec env -i SYSTEMD_PROC_CMDLINE='systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=1' container=test \
  PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system
