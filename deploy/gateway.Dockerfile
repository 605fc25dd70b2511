# The gateway: one static binary, which has the roots of public authorities built in. Build from the root of the repository.
FROM golang:1.26.11-bookworm AS build
WORKDIR /src
# The modules are a layer of their own: they are not fetched again when only code has changed.
COPY shared/go.mod shared/go.sum shared/
COPY shared/daemon/go.mod shared/daemon/go.sum shared/daemon/
COPY shared/hostroute/go.mod shared/hostroute/go.sum shared/hostroute/
COPY gateway/go.mod gateway/go.sum gateway/
RUN cd gateway && GOWORK=off go mod download
COPY shared shared
COPY gateway gateway
# BuildKit sets TARGETARCH; without it the image is for the machine that builds it.
ARG TARGETARCH
ARG VERSION=container
ARG COMMIT=unknown
RUN cd gateway && GOWORK=off CGO_ENABLED=0 GOOS=linux GOARCH=${TARGETARCH:-$(go env GOARCH)} \
    go build -trimpath -buildvcs=false -o /out/gateway \
    -ldflags "-s -w -X diagnostics/daemon.version=${VERSION} -X diagnostics/daemon.commit=${COMMIT}" .

FROM scratch
ARG VERSION=container
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="Network diagnostics gateway" \
      org.opencontainers.image.description="The public side: pages, and one diagnostic a request" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}"
COPY --from=build /out/gateway /gateway
USER 65532:65532
ENV GATEWAY_LISTEN_ADDR=:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --retries=3 --start-period=5s CMD ["/gateway", "-healthcheck"]
ENTRYPOINT ["/gateway"]
