# The worker: one static binary. It needs the capability NET_RAW and nothing else. Build from the root of the repository.
FROM golang:1.26.11-bookworm AS build
WORKDIR /src
# The modules are a layer of their own: they are not fetched again when only code has changed.
COPY shared/go.mod shared/go.sum shared/
COPY shared/daemon/go.mod shared/daemon/go.sum shared/daemon/
COPY shared/hostroute/go.mod shared/hostroute/go.sum shared/hostroute/
COPY worker/go.mod worker/go.sum worker/
RUN cd worker && GOWORK=off go mod download
COPY shared shared
COPY worker worker
# BuildKit sets TARGETARCH; without it the image is for the machine that builds it.
ARG TARGETARCH
ARG VERSION=container
ARG COMMIT=unknown
RUN cd worker && GOWORK=off CGO_ENABLED=0 GOOS=linux GOARCH=${TARGETARCH:-$(go env GOARCH)} \
    go build -trimpath -buildvcs=false -o /out/worker \
    -ldflags "-s -w -X diagnostics/daemon.version=${VERSION} -X diagnostics/daemon.commit=${COMMIT}" .

FROM scratch
ARG VERSION=container
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="Network diagnostics worker" \
      org.opencontainers.image.description="Traceroute, ping and packet loss for the gateway" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}"
COPY --from=build /out/worker /worker
ENV WORKER_LISTEN_ADDR=:8081
EXPOSE 8081
HEALTHCHECK --interval=10s --timeout=3s --retries=3 --start-period=5s CMD ["/worker", "-healthcheck"]
ENTRYPOINT ["/worker"]
