// What starts messages in the process of a rank: each call that gives messages to the group's backend, and
// how many it gives.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "dist/backend/backend.h"
#include "dist/group/group_state.h"
#include "dist/group/process_group.h"

namespace lab20 {

struct Start {
  std::size_t computations = 0;  // that came before
  bool is_batch = false;
  int sends = 0, receives = 0;
};
struct Starts {
  std::size_t computations = 0;  // so far
  std::vector<Start> all;
};

// Wraps the backend of a group, and notes what passes.
class Watched final : public dist::Backend {
 public:
  Watched(std::unique_ptr<Backend> backend, Starts& starts) : backend_(std::move(backend)), starts_(starts) {}

  std::string_view name() const override { return backend_->name(); }
  bool supports(dist::OpKind kind, dist::ReduceOp::Kind op, dist::DType dtype, dist::Device device,
                std::string* why) const override {
    return backend_->supports(kind, op, dtype, device, why);
  }
  int run(const dist::Operation& operation) override {
    note(operation);
    return backend_->run(operation);
  }
  std::shared_ptr<dist::WorkState> submit(dist::Operation operation) override {
    note(operation);
    return backend_->submit(std::move(operation));
  }
  std::vector<std::shared_ptr<dist::WorkState>> submit_batch(
      std::vector<dist::Operation> operations) override {
    begin(true);
    for (const auto& operation : operations) count(operation);
    return backend_->submit_batch(std::move(operations));
  }
  bool can_split() override { return backend_->can_split(); }
  std::shared_ptr<void> split(const dist::SplitPlace& share, dist::Timeout timeout) override {
    return backend_->split(share, timeout);
  }
  std::vector<std::string> finish() override { return backend_->finish(); }
  std::string algorithm_for(const dist::Operation& operation) const override {
    return backend_->algorithm_for(operation);
  }

 private:
  void note(const dist::Operation& operation) {
    if (dist::is_collective(operation.kind)) return;
    begin(false);
    count(operation);
  }
  void begin(bool is_batch) { starts_.all.push_back({starts_.computations, is_batch}); }
  void count(const dist::Operation& operation) {
    ++(operation.kind == dist::OpKind::send ? starts_.all.back().sends : starts_.all.back().receives);
  }

  const std::unique_ptr<Backend> backend_;
  Starts& starts_;
};

}  // namespace lab20
