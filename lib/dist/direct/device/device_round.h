// DeviceRound: one operation on the ranks' device memory. It works as Round (round.h) does, but on the
// current stream: work enqueued there later may use what it returns, and a wait holds up that stream only.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dist/direct/device/device_peers.h"

namespace dist {

class DeviceRound {
 public:
  static constexpr int everybody = Round::everybody;
  // Only one rank per device works. Kernels of processes that share a device take turns, and a turn may cost
  // more than the work; and one rank's kernel is as fast as the kernels of all ranks together.
  static constexpr int workers = -2;
  static constexpr bool in_pairs = false;
  static constexpr std::size_t room_bytes = DevicePeers::room_bytes;

  DeviceRound(DevicePeers& peers, const RoundTerms& terms, const CallLabel& label);
  ~DeviceRound();  // signals done
  DeviceRound(const DeviceRound&) = delete;
  DeviceRound& operator=(const DeviceRound&) = delete;

  int rank() const { return peers_.rank(); }
  int size() const { return peers_.size(); }
  bool works() const { return peers_.is_worker(rank()); }
  int worker() const { return peers_.worker_index(rank()); }
  int worker_count() const { return peers_.worker_count(); }
  bool serves(int rank) const { return peers_.worker_of(rank) == this->rank(); }

  static bool fits(std::size_t bytes, std::size_t parts = 1);
  // A copy is read by kernels of all ranks: where these share devices, one rank works for all instead.
  bool is_short(std::size_t bytes, std::size_t parts = 1) const {
    return !peers_.shares_devices() && fits(bytes, parts);
  }
  bool is_short_for_root(std::size_t bytes) const { return is_short(bytes); }

  // Lets the other ranks read a copy: afterwards, work on the stream may change the memory. The copy must
  // fit.
  void publish_copy(const TensorView& data) { publish_copy({&data, 1}); }
  void publish_copy(std::span<const TensorView> parts);
  // Lets the other ranks (all, or only rank `to`, or the workers) read and write the memory itself, until
  // finish(). The memory must be mapped.
  void publish_in_place(const TensorView& data, int to = everybody) { publish_in_place({&data, 1}, to); }
  void publish_in_place(std::span<const TensorView> parts, int to = everybody, bool helps = false);
  void publish_nothing();
  // The same to the workers, for lists whose lengths differ between ranks, and whose sizes only their owners
  // know: every rank of the round publishes one.
  void publish_list(std::span<const TensorView> parts);
  static bool can_list(int parts);
  // Part `part` of the `parts` that that rank published as a list; without an address on a rank that does not
  // work.
  struct Listed {
    int rank, parts, part;
  };
  TensorView listed(const Listed& which);
  // Error{mismatch} where what group rank `to` takes is not what `from` gives.
  void check_sizes(int to, const TensorView& out, int from, const TensorView& in) const;

  void wait_for(int rank);
  static bool is_bounced(int) { return false; }
  static bool any_bounced() { return false; }
  static bool published_list(int) { return false; }
  static bool is_in_place(int, std::int64_t = 0, int = 0) { return false; }  // of() suffices
  static bool any_in_place(std::int64_t = 0, int = 0) { return false; }
  static bool maps(std::span<const TensorView>) { return true; }
  // The result has no address on a rank that does not work, for memory exposed to the workers: only its size
  // was compared.
  TensorView of(int rank, std::int64_t count, int part = 0);
  void prefault(int, const TensorView&) {}       // all device memory is mapped
  void check_algorithm(int rank, bool copied) {  // the same as Round's
    if (seen_in_place_ == copied) notices_->fail_algorithm(rank);
  }
  void finish();
  void give_up() noexcept;

 private:
  std::vector<DevicePlace> places_of(std::span<const TensorView> parts);
  void post(std::span<const TensorView> parts);
  void make_room();
  void await_ready(int rank);
  void close();
  bool is_exposed_to(int rank) const;

  DevicePeers& peers_;
  const RoundTerms terms_;
  const CallLabel& label_;
  const DType dtype_;
  const StreamHandle stream_;
  std::optional<Round> notices_;  // the hosts' notices
  std::vector<bool> is_ready_;    // by rank: the stream already waits for that rank
  bool lends_ = false;            // other ranks may use this rank's memory
  int lent_to_ = everybody;
  bool closed_ = false;         // done was signalled
  bool seen_in_place_ = false;  // of() last returned the other rank's memory itself
};

}  // namespace dist
