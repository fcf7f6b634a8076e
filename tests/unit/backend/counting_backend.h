// A backend of one's own, as a program registers it: it counts the collectives that it passes on to "host".
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dist/backend/backend.h"

inline std::atomic<int> counted_calls{0};

class CountingBackend final : public dist::Backend {
 public:
  explicit CountingBackend(const dist::BackendContext& context)
      : host_(dist::find_backend("host").make(context)) {}
  std::string_view name() const override { return "counting"; }
  bool supports(dist::OpKind kind, dist::ReduceOp::Kind op, dist::DType dtype, dist::Device device,
                std::string* why) const override {
    return host_->supports(kind, op, dtype, device, why);
  }
  int run(const dist::Operation& operation) override {
    ++counted_calls;
    return host_->run(operation);
  }
  std::shared_ptr<dist::WorkState> submit(dist::Operation operation) override {
    ++counted_calls;
    return host_->submit(std::move(operation));
  }
  std::vector<std::string> finish() override { return host_->finish(); }
  std::string algorithm_for(const dist::Operation& operation) const override {
    return host_->algorithm_for(operation);
  }

 private:
  const std::unique_ptr<dist::Backend> host_;
};

inline const dist::BackendEntry counting{
    "counting", dist::DeviceType::cpu, [](std::string* why) { return why ? why->clear() : void(), true; },
    [](const dist::BackendContext& context) -> std::unique_ptr<dist::Backend> {
      return std::make_unique<CountingBackend>(context);
    }};
