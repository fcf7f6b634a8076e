// The "nccl" backend: every collective on device tensors is NCCL's own call. What is not on a device is run
// as the host backend runs it (StreamBackend).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "dist/backend/graph_backend.h"
#include "dist/backend/nccl/communicator.h"
#include "dist/backend/stream_backend.h"

namespace dist::nccl {

// What a backend object is for: everything of a group, or the messages from the first of two ranks to the
// second, in order.
enum class Role : std::uint8_t { group, lane };

class NcclBackend final : public StreamBackend, public GraphBackend {
 public:
  NcclBackend(const BackendContext& context, std::shared_ptr<Library> library, Role role = Role::group);
  ~NcclBackend() override;

  bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, Device device, std::string* why) const override;
  bool can_split() override { return library_->can_split() && is_at_rest(); }
  std::shared_ptr<void> split(const SplitPlace& share, Timeout timeout) override;
  std::vector<std::shared_ptr<WorkState>> submit_batch(std::vector<Operation> operations) override;

  bool can_record(OpKind kind) const override;
  std::shared_ptr<WorkState> record(const Operation& operation) override;
  void before_launch(std::span<const Operation> operations) override { begin_in_graph(operations); }
  void after_launch(std::span<const Operation> operations) override { end_in_graph(operations); }

 private:
  static constexpr Timeout close_timeout = std::chrono::seconds(5);
  using Way = std::pair<int, int>;  // of a message: from, to
  // A message that is launched together with others.
  struct Launch {
    Way way;
    NcclBackend* lane;
    std::shared_ptr<CollectiveWork> work;
  };
  bool is_ordered(const Operation& operation) const override;
  bool is_elsewhere(const Operation& operation) const override;
  Backend* lane_of(const Operation& operation) override;
  Way way_of(const Operation& operation) const;
  NcclBackend* lane_at_rest(const Way& way);  // null: it must come alone
  void launch_together(std::vector<Launch> messages);
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
  std::atomic<bool> has_run_ = false;  // an operation: its ranks are connected
  std::mutex lanes_mutex_;             // guards the next
  std::map<Way, std::unique_ptr<NcclBackend>> lanes_;
  const std::shared_ptr<void> in_graphs_ = std::make_shared<char>();  // graphs have it, too
};

}  // namespace dist::nccl
