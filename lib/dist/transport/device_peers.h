// DevicePeers: how the ranks of a group reach each other's device memory.
//
// A rank tells where its data lies by a notice on the host (peer_memory.h): which allocation, by a handle
// that other processes can map, and the offset in it. Each allocation is mapped at first use and stays
// mapped; in one process the address serves as it is. When the data is ready, and when nobody uses it any
// more, is said on the streams (stream_signals.h), so the host waits for the others' calls, never for data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "dist/core/device.h"
#include "dist/core/tensor.h"
#include "dist/transport/round.h"
#include "dist/transport/stream_signals.h"

namespace dist {

// Where a part of a rank's data lies, for the others. Fits a notice's own room.
struct DevicePlace {
  std::uint64_t allocation;  // its id in that process
  std::uint64_t address;     // for ranks of the same process
  std::uint64_t offset;      // in the allocation, for others
  std::uint64_t bytes : 63;
  std::uint64_t exposed : 1;  // the rank's own memory, not a copy
  std::byte handle[64];       // of the allocation; of use where some rank is in another process
};

// Of one rank in one group. One round at a time; all ranks hold the same rounds in the same order. Must not
// outlive `hosts`.
class DevicePeers {
 public:
  static constexpr std::size_t room_bytes = std::size_t{64} << 10;  // what a round can show
  static const RoundTerms meeting;                                  // of rounds that are no operation's
  // Every member calls it, with the device of its tensors. nullptr on every rank where one cannot take part,
  // or not reach the memory of another; that one logs the reason (info). Errors as an operation's.
  static std::unique_ptr<DevicePeers> connect(PeerMemory& hosts, Device device, const CallLabel& label);
  ~DevicePeers();
  DevicePeers(const DevicePeers&) = delete;
  DevicePeers& operator=(const DevicePeers&) = delete;

  int rank() const { return hosts_.rank(); }
  int size() const { return hosts_.size(); }
  Device device() const { return device_; }
  SyncMode sync() const { return sync_; }
  // On each device one of the ranks that share it works for all of them: the first.
  bool is_worker(int rank) const { return std::ranges::binary_search(workers_, rank); }
  int worker_index(int rank) const;  // of a worker, among them
  int worker_count() const { return static_cast<int>(workers_.size()); }
  std::size_t mapped() const { return mapped_.size(); }  // allocations of other processes
  // Whether the others can reach this memory.
  bool maps(const TensorView& memory) const;
  // The next three may be called by any thread.
  // Something has failed. Tells the others that nothing which ends from now on is right, and lets every
  // stream of this rank go that waits for another. Again and again, until they have gone.
  void give_up() noexcept;
  // Throws when another rank has given up. Of work that has ended before the call, all is well otherwise.
  void check(const CallLabel& label);
  // Gives up until the stream of this rank's work waits for nobody any more; false when it still does after
  // that time. Then this object must be kept: the stream looks at what it has mapped.
  bool settle(Timeout patience) noexcept;
  // The last thing all ranks do, on the stream of their work: nobody needs this rank's rooms and flags any
  // more. Without it they stay for ever. `look` is called while the stream is waited for, rests a little and
  // throws when it cannot end.
  void leave(const CallLabel& label, const std::function<void()>& look);

 private:
  friend class DeviceRound;
  friend class DeviceTransport;
  // How many messages this rank and another have exchanged.
  struct Post {
    std::uint64_t sent = 0, returned = 0;  // ... to it, and how many of those its stream was told are taken
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
  DevicePlace place_of(const TensorView& part);
  std::byte* address_of(int rank, const DevicePlace& place);
  TensorView room(std::uint64_t round) const;

  PeerMemory& hosts_;
  const std::shared_ptr<DeviceApi> api_;
  const Device device_;
  SyncMode sync_ = SyncMode::host;
  std::unique_ptr<EventBoard> events_;
  Tensor flags_;                   // memory of the arena, with FlagPages in it
  Tensor rooms_;                   // where data is shown, a room a round
  std::vector<FlagPages*> pages_;  // by rank
  std::unique_ptr<StreamSignals> signals_;
  std::vector<bool> same_process_;                            // by rank
  std::vector<int> workers_;                                  // ranks, ascending
  std::map<std::pair<int, std::uint64_t>, void*> mapped_;     // by rank and allocation
  std::map<std::uint64_t, std::vector<std::byte>> exported_;  // handles, by allocation
  std::uint64_t round_ = 0;                                   // the last one that was begun
  StreamHandle stream_ = nullptr;                             // of the latest work
  std::vector<Post> posts_;                                   // by rank
  bool left_ = false;
};

}  // namespace dist
