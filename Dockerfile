# The server and nothing else: one static binary, in an image without a shell.

FROM node:20-bookworm-slim AS node

FROM golang:1.26-bookworm AS build
COPY --from=node /usr/local/bin/ /usr/local/bin/
COPY --from=node /usr/local/lib/node_modules/ /usr/local/lib/node_modules/
WORKDIR /src
# What changes seldom comes first, so that it is fetched once.
COPY go.mod go.sum package.json package-lock.json .npmrc ./
RUN go mod download && npm ci --omit=dev --no-audit --no-fund
COPY . .
RUN CGO_ENABLED=0 make bin/server
# Two folders that the server may write to: /tmp holds the session store by
# default, /data is there for DRAINLAB_DATA=/data and a volume.
RUN mkdir -p /writable/data /writable/tmp && chmod 1777 /writable/tmp

FROM scratch
LABEL org.opencontainers.image.title="drainlab" org.opencontainers.image.licenses="MIT"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 /writable/ /
COPY --from=build /src/bin/server /server
# A number, so that Kubernetes can see that it is not root.
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=20s --retries=3 CMD ["/server", "-healthcheck"]
ENTRYPOINT ["/server"]
