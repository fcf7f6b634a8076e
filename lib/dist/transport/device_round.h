// DeviceRound: one operation on the ranks' device memory. As Round (round.h), but for the current
// stream: what it returns may be used by work enqueued there from then on, what it waits for holds up that
// stream alone.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dist/transport/device_peers.h"

namespace dist {

class DeviceRound {
 public:
  static constexpr int everybody = Round::everybody;
  // One rank on each device. Kernels of processes that share one take turns, and a turn may cost more than
  // the work; and one rank's kernel does it as fast as all ranks' together.
  static constexpr int workers = -2;
  static constexpr bool in_pairs = false;
  static constexpr std::size_t shown_bytes = DevicePeers::room_bytes;

  DeviceRound(DevicePeers& peers, const RoundTerms& terms, const CallLabel& label);
  ~DeviceRound();  // signals done
  DeviceRound(const DeviceRound&) = delete;
  DeviceRound& operator=(const DeviceRound&) = delete;

  int rank() const { return peers_.rank(); }
  int size() const { return peers_.size(); }
  bool works() const { return peers_.is_worker(rank()); }
  int worker() const { return peers_.worker_index(rank()); }
  int worker_count() const { return peers_.worker_count(); }

  static bool fits(std::size_t bytes, std::size_t parts = 1);
  static bool is_short(std::size_t bytes, std::size_t parts = 1) { return fits(bytes, parts); }

  // Lets the others read a copy: afterwards work on the stream may change the memory. It must fit.
  void show(const TensorView& data) { show({&data, 1}); }
  void show(std::span<const TensorView> parts);
  // Lets the others (all, only that one, or the workers) read and write the memory itself, until finish(). It
  // must be mapped.
  void expose(const TensorView& data, int to = everybody) { expose({&data, 1}, to); }
  void expose(std::span<const TensorView> parts, int to = everybody, bool helps = false);
  void attend();

  void meet(int rank);
  static bool in_windows(int) { return false; }
  static bool any_in_windows() { return false; }
  static bool exposes_list(int) { return false; }
  static bool is_in_place(int, std::int64_t = 0, int = 0) { return false; }  // of() is all that it takes
  static bool any_in_place(std::int64_t = 0, int = 0) { return false; }
  static bool maps(std::span<const TensorView>) { return true; }
  // Nowhere for a rank that does not work, of what is exposed to the workers: only the size was compared.
  TensorView of(int rank, std::int64_t count, int part = 0);
  void prefault(int, const TensorView&) {}       // all of it is mapped
  void check_algorithm(int rank, bool copied) {  // as Round's
    if (seen_in_place_ == copied) notices_->fail_algorithm(rank);
  }
  void finish();
  void give_up() noexcept;

 private:
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
  std::optional<Round> notices_;  // the host's part
  std::vector<bool> is_ready_;    // by rank: the stream waits for it already
  bool exposes_ = false;          // others may touch this rank's memory
  int exposed_to_ = everybody;
  bool closed_ = false;         // done was signalled
  bool seen_in_place_ = false;  // what of() gave last is the other's memory itself
};

}  // namespace dist
