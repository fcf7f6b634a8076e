// Collectives in graphs: NCCL's calls are captured on the group's stream, which runs in parallel with the
// recorded one.
#include <utility>

#include "dist/backend/nccl/backend.h"
#include "dist/backend/nccl/collectives.h"
#include "dist/core/device/recording.h"

namespace dist::nccl {
namespace {

// A collective that was recorded. Its graph keeps it.
class Recorded final : public WorkState {
 public:
  Recorded(StreamHandle side, std::shared_ptr<void> in_graph) : side_(side), in_graph_(std::move(in_graph)) {}
  void wait(Timeout) override {
    if (Recording* const now = Recording::current()) now->join(side_);
  }
  bool is_completed() override { return true; }

 private:
  const StreamHandle side_;
  const std::shared_ptr<void> in_graph_;
};

}  // namespace

// Only what is one call of NCCL's on the tensor itself, because lists may be copied; and only once the ranks
// are connected.
bool NcclBackend::can_record(OpKind kind) const {
  const bool is_one_call = kind == OpKind::all_reduce || kind == OpKind::broadcast || kind == OpKind::reduce;
  return is_one_call && has_run_ && !breakage_;
}

std::shared_ptr<WorkState> NcclBackend::record(const Operation& operation) {
  wait_idle();
  Recording::current()->fork(stream());
  const StreamGuard guard(device(), stream());
  nccl::run(*communicator_, operation, patience_for(operation));
  return std::make_shared<Recorded>(stream(), in_graphs_);
}

}  // namespace dist::nccl
