// HostEndpoint: an endpoint over net::Engine or plain::Plain.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "dist/transport/endpoint.h"
#include "dist/transport/host_transport.h"

namespace dist {

template <class Engine>
class HostEndpoint : public Endpoint {
 public:
  HostEndpoint(std::shared_ptr<Engine> engine, int world_size)
      : engine_(std::move(engine)), world_size_(world_size) {}

  int rank() const override { return engine_->rank(); }
  int world_size() const final { return world_size_; }
  std::unique_ptr<Transport> open(TransportOptions options) override {
    return std::make_unique<net::HostTransport<Engine>>(*engine_, scratch_, world_size_, std::move(options));
  }
  void progress(Timeout patience) final { engine_->progress(patience); }
  void interrupt() final { engine_->interrupt(); }
  void abort(const std::string& reason) final { engine_->abort(reason); }
  void close(const std::string& reason) noexcept final { engine_->leave(reason); }

 protected:
  const std::shared_ptr<Engine> engine_;
  net::ScratchCache scratch_;
  const int world_size_;
};

}  // namespace dist
