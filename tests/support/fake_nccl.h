// A fake NCCL on the fake device: ranks are threads of this process, an operation is a piece of work on each
// rank's stream, and these pieces meet in memory. As NCCL's kernels do, they wait for each other forever,
// until their communicator is aborted; ranks that call different things are noted, and hang.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "dist/backend/nccl/library.h"

#include "support/fake_device.h"

namespace dist::test {

class FakeNccl final : public nccl::Library {
 public:
  explicit FakeNccl(std::shared_ptr<FakeDevice> device) : device_(std::move(device)) {}

  std::string version() const override { return "fake"; }
  nccl::UniqueId make_id() override;
  nccl::Comm begin(Device device, int ranks, const nccl::UniqueId& id, int rank) override;
  bool can_split() const override { return splits_; }
  void begin_split(nccl::Comm parent, int color, int key, nccl::Comm* made) override;
  bool is_busy(nccl::Comm comm) override;
  void finalize(nccl::Comm comm) override;
  void destroy(Device device, nccl::Comm comm) noexcept override;
  void abort(Device device, nccl::Comm comm) noexcept override;
  void begin_group() override;
  void end_group() override;
  void all_reduce(nccl::Comm comm, TensorView in, TensorView out, ReduceOp op, StreamHandle stream) override;
  void reduce(nccl::Comm comm, TensorView in, TensorView out, ReduceOp op, int root,
              StreamHandle stream) override;
  void broadcast(nccl::Comm comm, TensorView in, TensorView out, int root, StreamHandle stream) override;
  void all_gather(nccl::Comm comm, TensorView in, TensorView out, StreamHandle stream) override;
  void reduce_scatter(nccl::Comm comm, TensorView in, TensorView out, ReduceOp op,
                      StreamHandle stream) override;
  void send(nccl::Comm comm, TensorView in, int peer, StreamHandle stream) override;
  void recv(nccl::Comm comm, TensorView out, int peer, StreamHandle stream) override;

  // For tests.
  void refuse_ids(std::string why);   // make_id() fails
  void break_comms(std::string why);  // from now on every communicator fails with this; empty: none does
  void refuse_one_gpu(bool refuse);   // as NCCL does: "Duplicate GPU detected"
  void launch_for(int looks);         // how often is_busy() says yes after an operation
  void stick(bool sticks);            // destroy() and abort() do not return
  void fail_groups(std::string why);  // every end_group() fails with this; empty: none does
  void be_too_old_to_split() { splits_ = false; }
  int comms_alive();
  std::size_t ids_made();
  std::vector<std::string> misuse();  // ranks that called different things, or what NCCL does wrong
  std::vector<std::string> groups();  // "all_reduce", "send recv recv", ...: of each operation

 private:
  struct Call {
    std::string what;  // equal on all ranks of a collective
    TensorView in, out;
    ReduceOp op;
    int root = -1, peer = -1;
    bool is_send = false;
  };
  struct Meeting {                             // one collective
    std::vector<std::unique_ptr<Call>> calls;  // by rank
    int arrived = 0;
    bool done = false;
  };
  struct Message {
    Call call;
    bool done = false;
  };
  struct Splitting {
    int color, key;
    Device device;
    nccl::Comm* made;
  };
  struct World {
    int ranks = 0;
    int splits = 0;                    // that have ended
    std::vector<Splitting> splitting;  // the ranks that have reached the next one
    std::vector<Device> devices;
    int joined = 0;
    std::map<std::uint64_t, Meeting> meetings;
    std::map<std::pair<int, int>, std::deque<std::shared_ptr<Message>>> sends, recvs;  // by source and target
  };
  struct Rank {
    std::shared_ptr<World> world;
    int rank = 0;
    Device device;
    std::uint64_t collectives = 0;  // that have begun on the device
    std::size_t launches = 0;
    std::shared_ptr<void> in_graphs = std::make_shared<char>();  // graphs have it, too
    int splits = 0;                                              // that it has begun
    bool aborted = false;
  };
  using Pieces = std::vector<Call>;
  struct Launch {  // what a group calls on one stream
    std::shared_ptr<Rank> rank;
    StreamHandle stream;
    Pieces pieces;
  };

  static Rank& of(nccl::Comm comm) { return **static_cast<std::shared_ptr<Rank>*>(comm); }
  static void work(Meeting& meeting, const World& world);
  void add(nccl::Comm comm, StreamHandle stream, Call call);
  static std::vector<Launch>& group();  // of this thread
  void note_group(const std::vector<Launch>& launches);
  void launch(Launch all);
  void run(const std::shared_ptr<Rank>& rank, const Pieces& pieces);
  void join(Rank& rank, std::uint64_t number, const Call& call);
  void end_split(World& world);
  void match(World& world, std::pair<int, int> way);

  const std::shared_ptr<FakeDevice> device_;
  std::mutex mutex_;  // of everything
  std::condition_variable changed_;
  std::map<std::uint64_t, std::weak_ptr<World>> worlds_;
  std::uint64_t ids_ = 0;
  int alive_ = 0;
  int looks_of_a_launch_ = 0, looks_left_ = 0;
  bool refuses_one_gpu_ = false, sticks_ = false;
  std::atomic<bool> splits_{true};
  std::string refused_, broken_, groups_fail_;
  std::vector<std::string> misuse_, groups_;
};

// Makes a fake device the cuda device, and a fake NCCL on it the build's NCCL, while it lives.
class FakeNcclGuard {
 public:
  explicit FakeNcclGuard(const FakeDeviceOptions& options = {});
  ~FakeNcclGuard();
  FakeNcclGuard(const FakeNcclGuard&) = delete;
  FakeNcclGuard& operator=(const FakeNcclGuard&) = delete;
  FakeNccl* operator->() const { return nccl_.get(); }
  FakeDevice& device() const { return *device_; }

 private:
  std::shared_ptr<FakeDevice> device_;
  std::shared_ptr<FakeNccl> nccl_;
};

}  // namespace dist::test
