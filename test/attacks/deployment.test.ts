import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { row } from '#test/faults/row.ts'
import { Browser, openTarget } from './browser.ts'

const root = path.join(import.meta.dirname, '../..')

interface Container {
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  user?: string
}

row('143', 'what is open to code that runs in a process of Duely, and to someone who found that', { short: true }, async (trial) => {
  trial.mustHold('exposure to systemd at most 2.5; no container writes to its root or has rights; security.txt names a contact')
  const unit = path.join(root, 'deploy/duely.service')
  const analyzed = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', unit], { encoding: 'utf8' })
  const exposure = /exposure level for duely\.service: ([\d.]+)/.exec(analyzed.stdout ?? '')?.[1] ?? null
  const { services } = parse(readFileSync(path.join(root, 'compose.yaml'), 'utf8'), { merge: true }) as {
    services: Record<string, Container>
  }
  const open = Object.entries(services).flatMap(([name, { read_only, cap_drop, security_opt, user = 'root' }]) =>
    read_only && cap_drop?.includes('ALL') && security_opt?.includes('no-new-privileges:true') && user !== 'root' ? [] : name,
  )
  const { url } = await openTarget(trial, { SECURITY_CONTACT: 'mailto:security@duely.example' })
  const { status, text } = await new Browser(url).ask('GET /.well-known/security.txt')
  const expires = /^Expires: (\S+)$/m.exec(text)?.[1]
  const days = expires === undefined ? 0 : Temporal.Now.instant().until(expires).total('hours') / 24
  const isText = status === 200 && text.startsWith('Contact: mailto:security@duely.example\n') && days > 30 && days < 365
  return {
    figure: `exposure ${exposure ?? 'not measured: systemd is not here'}; containers with more: ${open.length === 0 ? 'none' : open.join(', ')}; security.txt ${status}`,
    holds: Number(exposure ?? 0) <= 2.5 && Object.keys(services).length === 3 && open.length === 0 && isText,
  }
})
