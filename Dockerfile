# One image for every role: docker build -t duely . && docker run -p 3000:3000 -v duely:/data duely
# Without DATABASE_URL the embedded database is in the volume. docs/deploying.md has more.

FROM node:24-trixie-slim AS build
WORKDIR /srv/duely
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund
COPY . .
# The client is built with packages that the server never loads: run/image.mjs leaves those out.
RUN node run/launch.mjs build && node run/image.mjs /image

FROM debian:trixie-slim
# fonts-noto-cjk: Chinese, Japanese and Korean in PDFs. Its fonts with serifs are half of it, and nothing uses them.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates fonts-noto-cjk libatomic1 tzdata && rm -rf /var/lib/apt/lists/* \
  && rm -f /usr/share/fonts/opentype/noto/NotoSerifCJK-*.ttc \
  && useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin duely && install --directory --owner=duely --mode=700 /data
COPY --from=build /image /srv/duely
WORKDIR /srv/duely
ENV PATH=/srv/duely/node_modules/node/bin:$PATH NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
USER duely
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD ["node", "run/healthy.mjs"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node"]
CMD ["server/start.ts"]
