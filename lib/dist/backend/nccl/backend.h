// The "nccl" backend: every collective on device tensors is NCCL's own call. What is not on a device is run
// as the host backend runs it (StreamBackend).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "dist/backend/nccl/communicator.h"
#include "dist/backend/stream_backend.h"

namespace dist::nccl {

// What a backend object is for: everything of a group, or the messages from the first of two ranks to the
// second, in order.
enum class Role : std::uint8_t { group, lane };

class NcclBackend final : public StreamBackend {
 public:
  NcclBackend(const BackendContext& context, std::shared_ptr<Library> library, Role role = Role::group);
  ~NcclBackend() override;

  bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, Device device, std::string* why) const override;
  bool can_split() override { return library_->can_split() && is_at_rest(); }
  std::shared_ptr<void> split(const SplitPlace& share, Timeout timeout) override;

 private:
  bool is_ordered(const Operation& operation) const override;
  bool is_elsewhere(const Operation& operation) const override;
  Backend* lane_of(const Operation& operation) override;
  void finish_lanes() override;
  void connect(const Operation& operation) override;
  Plan plan_of(const Operation& operation) const override;
  void start(const Operation& operation) override;
  void look(const Operation& operation) override;
  void detach() noexcept override;
  void part() override;
  void meet_other_end();
  Patience patience_for(const Operation& operation);

  const std::shared_ptr<Library> library_;
  const Role role_;
  std::shared_ptr<Communicator> communicator_;
  std::mutex lanes_mutex_;                                                // guards the next
  std::map<std::pair<int, OpKind>, std::unique_ptr<NcclBackend>> lanes_;  // by peer and direction
};

}  // namespace dist::nccl
