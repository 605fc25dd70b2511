# The gateway: one static binary, which has the roots of public authorities built in. Build from the root of the repository.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY shared shared
COPY gateway gateway
ARG VERSION=container
RUN cd gateway && GOWORK=off CGO_ENABLED=0 \
    go build -trimpath -ldflags "-s -w -X diagnostics/daemon.version=${VERSION}" -o /out/gateway .

FROM scratch
COPY --from=build /out/gateway /gateway
USER 65532:65532
ENV GATEWAY_LISTEN_ADDR=:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --retries=3 CMD ["/gateway", "-healthcheck"]
ENTRYPOINT ["/gateway"]
