// DevicePeers: how the ranks of a group reach each other's device memory.
//
// A rank says where its data is by a notice on the host (peer_memory.h): which allocation, by a handle that
// other processes can map, and the offset in it (device_maps.h). When the data is ready, and when no rank
// uses it any more, is signalled on the streams (stream_signals.h): the host waits for the other ranks'
// calls, never for data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "dist/core/device.h"
#include "dist/core/tensor.h"
#include "dist/direct/device/device_maps.h"
#include "dist/direct/device/stream_signals.h"
#include "dist/direct/round.h"

namespace dist {

// One rank's part in one group. It takes part in one round at a time, and all ranks take part in the same
// rounds in the same order. Must not outlive `hosts`.
class DevicePeers {
 public:
  static constexpr std::size_t room_bytes = std::size_t{64} << 10;  // bytes that a round can publish
  static const RoundTerms meeting;                                  // for rounds that belong to no operation
  // Every member calls it, with the device of its tensors. nullptr on every rank where one rank cannot take
  // part, or cannot reach another one's memory; that rank logs the reason (info). Throws the same errors as
  // an operation.
  static std::unique_ptr<DevicePeers> connect(PeerMemory& hosts, Device device, const CallLabel& label);
  ~DevicePeers();
  DevicePeers(const DevicePeers&) = delete;
  DevicePeers& operator=(const DevicePeers&) = delete;

  int rank() const { return hosts_.rank(); }
  int size() const { return hosts_.size(); }
  Device device() const { return device_; }
  SyncMode sync() const { return sync_; }
  // On each device, one of the ranks that share it works for all of them: the first one.
  bool is_worker(int rank) const { return worker_of(rank) == rank; }
  int worker_of(int rank) const { return worker_of_[rank_index(rank)]; }
  int worker_index(int rank) const;  // the worker's position among the workers
  int worker_count() const { return static_cast<int>(workers_.size()); }
  bool shares_devices() const { return worker_count() < size(); }
  // Whether the other ranks can reach this memory.
  bool maps(const TensorView& memory) const { return maps_.knows(memory); }
  // The next three may be called by any thread.
  // Called after a failure. Notifies the other ranks that no result from now on is right, and releases every
  // stream of this rank that waits for another rank. To be repeated until nothing waits any more.
  void give_up() noexcept;
  // Throws when another rank has given up. Work that had ended before the call is right unless it throws.
  void check(const CallLabel& label);
  // Gives up until the stream of this rank's work waits for no rank any more; false when it still does after
  // `patience`. Then this object must be kept, because the stream uses memory that it has mapped.
  bool settle(Timeout patience) noexcept;
  // The last call of every rank, on the stream of its work: afterwards no rank needs this rank's rooms and
  // flags any more. Without it they stay allocated forever. `look` is called while the stream is waited for:
  // it sleeps for a short time, and throws when the stream cannot end.
  void leave(const CallLabel& label, const std::function<void()>& look);

 private:
  friend class DeviceRound;
  friend class DeviceTransport;
  // How many messages this rank and another one have exchanged.
  struct Post {
    std::uint64_t sent = 0, returned = 0;  // to it; of those, how many this rank's stream knows to be taken
    std::uint64_t received = 0;
  };
  struct Hello;
  DevicePeers(PeerMemory& hosts, Device device);
  std::vector<Hello> greet(const CallLabel& label);
  bool agree(bool mine, const CallLabel& label);
  bool try_rooms(const std::vector<Hello>& hellos, const CallLabel& label);
  void map_pages(const CallLabel& label);
  void choose_signals(const std::vector<Hello>& hellos, const CallLabel& label);
  bool use_flags(const std::vector<Hello>& hellos, const CallLabel& label);

  bool in_one_process() const;
  DevicePlace place_of(const TensorView& part) { return maps_.place_of(part, !in_one_process()); }
  std::byte* address_of(int rank, const DevicePlace& place) {
    return maps_.address_of(rank, same_process_[rank_index(rank)], place);
  }
  // The same in an operation: if the rank's memory cannot be opened because it died, its death is the error.
  std::byte* reach(int rank, const DevicePlace& place, const CallLabel& label);
  TensorView room(std::uint64_t round) const;

  PeerMemory& hosts_;
  const std::shared_ptr<DeviceApi> api_;
  const Device device_;
  DeviceMaps maps_;
  SyncMode sync_ = SyncMode::host;
  std::unique_ptr<EventBoard> events_;
  Tensor flags_;                   // memory of the arena, with FlagPages in it
  Tensor rooms_;                   // where copies are published, one room per round
  std::vector<FlagPages*> pages_;  // by rank
  std::unique_ptr<StreamSignals> signals_;
  std::vector<bool> same_process_;  // by rank
  std::vector<int> workers_;        // ranks, ascending
  std::vector<int> worker_of_;      // by rank
  std::uint64_t round_ = 0;         // the last round that was begun
  StreamHandle stream_ = nullptr;   // the stream of the latest work
  std::vector<Post> posts_;         // by rank
  bool left_ = false;
};

}  // namespace dist
