// Ranks as fibers, run in the order of virtual time: what fiber_transport.h describes, without the counting.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dist/core/error.h"

#include "support/fiber.h"
#include "support/fiber_network.h"
#include "support/fiber_transport.h"

namespace dist::test {

class FiberScheduler {
 public:
  // `body` outlives the scheduler.
  FiberScheduler(int n, const FiberOptions& options, const std::function<void(int rank)>& body);

  // Runs every rank to its end. Throws the first failure.
  void run();
  std::int64_t clock(int rank) const { return ranks_[static_cast<std::size_t>(rank)].clock; }

  // Called from the fiber of `rank`. After a failure they throw Error{peer_failed}, so that the fiber ends.
  Transfer post_send(int rank, TensorView data, int dst);
  Transfer post_receive(int rank, TensorView data, int src);
  void wait_for(int rank, const Transfer& transfer);
  bool poll(int rank, const Transfer& transfer);
  void drop(int rank, const Transfer& transfer) noexcept;

 private:
  struct Rank {
    std::unique_ptr<Fiber> fiber;
    std::int64_t clock = 0;
    std::optional<Transfer> blocked_on;
  };
  void run_body(int rank, const std::function<void(int)>& body);
  void run_until_nobody_can();
  void make_ready(int rank) { ready_.emplace(clock(rank), rank); }
  void pause(int rank);
  void wake_sides(const Message& message);
  void throw_if_failed(int rank) const;
  void fail_all(Error failure);
  std::string who_waits_for_whom() const;
  void check_nothing_is_left() const;

  Network network_;
  std::vector<Rank> ranks_;
  std::set<std::pair<std::int64_t, int>> ready_;  // (clock, rank)
  std::optional<Error> failure_;
  int dropped_by_ = -1;
};

}  // namespace dist::test
