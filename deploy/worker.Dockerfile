# The worker: one static binary. It needs the capability NET_RAW and nothing else. Build from the root of the repository.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY shared shared
COPY worker worker
ARG VERSION=container
RUN cd worker && GOWORK=off CGO_ENABLED=0 \
    go build -trimpath -ldflags "-s -w -X diagnostics/daemon.version=${VERSION}" -o /out/worker .

FROM scratch
COPY --from=build /out/worker /worker
ENV WORKER_LISTEN_ADDR=:8081
EXPOSE 8081
HEALTHCHECK --interval=10s --timeout=3s --retries=3 CMD ["/worker", "-healthcheck"]
ENTRYPOINT ["/worker"]
