// The backend on CPU tensors: the algorithms of collectives/ and direct/ on an Endpoint. It is "host", and on
// virtual ranks "sim".
#pragma once

#include <memory>
#include <string>

#include "dist/backend/host_collectives.h"
#include "dist/backend/ordered.h"

namespace dist {

class HostBackend final : public OrderedBackend {
 public:
  // `name`: static storage.
  HostBackend(std::string_view name, const BackendContext& context)
      : OrderedBackend(name, context, context.endpoint), collectives_(context_) {}
  ~HostBackend() override { stop(); }

  std::string algorithm_for(const Operation& operation) const override {
    return collectives_.algorithm_for(operation);
  }

 private:
  void prepare(const Operation& operation) override { collectives_.prepare(operation); }
  Plan choose(const Operation& operation) override { return collectives_.choose(operation); }
  void execute(const Operation& operation) override { collectives_.execute(operation); }

  HostCollectives collectives_;
};

}  // namespace dist
