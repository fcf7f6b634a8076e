// A backend composed of the algorithms of collectives/ and an Endpoint: "host" and "sim".
#pragma once

#include <memory>
#include <string>

#include "dist/backend/host_collectives.h"
#include "dist/backend/ordered.h"

namespace dist {

class ComposedBackend final : public OrderedBackend {
 public:
  ComposedBackend(std::string_view name, const BackendContext& context);  // `name`: static storage
  ~ComposedBackend() override { stop(); }

  std::string algorithm_for(const Operation& operation) const override {
    return collectives_.algorithm_for(operation);
  }

 private:
  friend OrderedBackend;
  void prepare(const Operation& operation) override { collectives_.prepare(operation); }
  Plan choose(const Operation& operation) override { return collectives_.choose(operation); }
  void execute(const Operation& operation) override { collectives_.execute(operation); }
  void run_collective_now(const Operation& operation, const std::shared_ptr<StreamEvents>& points) override;

  HostCollectives collectives_;
};

}  // namespace dist
