// The simulator's Transport and Endpoint: the same algorithms run on virtual ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/core/tasking.h"
#include "dist/sim/scheduler.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/transport.h"

namespace dist::sim {

// Numbers for the calls of a program by place and kind, which requests in the network carry.
class CallSites {
 public:
  struct Site {
    std::string name;  // "ring_all_reduce", "send"
    CallSite where;
  };
  std::uint32_t number_of(std::string_view name, CallSite where);
  std::uint32_t number_again(std::uint32_t number);  // another number for the same site
  const Site& operator[](std::uint32_t number) const { return sites_[number]; }

 private:
  std::vector<Site> sites_{Site{"an operation", {}}};
};

inline constexpr std::string_view has_left = "has left the job";  // in order

// What all ranks of a simulation share besides the scheduler.
struct Fabric {
  explicit Fabric(Scheduler& of) : scheduler(of), gone(static_cast<std::size_t>(of.network().ranks())) {}
  Scheduler& scheduler;
  CallSites sites;
  std::vector<std::string> gone;  // [rank]: why it left or failed; empty: it has not
  // Ranks that left because of an error, in the order in which they did. Every pending and later operation of
  // a group that contains one of them ends with Error{peer_failed}, which names it, as on the host.
  struct GaveUp {
    int rank;
    std::string how;  // "gave up: out of paper"
  };
  std::vector<GaveUp> gave_up;
  std::function<void(int rank, const std::string& reason)> on_giving_up = [](int, const std::string&) {};
};

// One operation of the running rank.
class SimTransport final : public Transport, private WaitReason {
 public:
  // `before` ranks had given up when this rank joined; they have joined again.
  SimTransport(Fabric& fabric, TransportOptions options, int global_rank,
               const std::string* aborted = nullptr, std::size_t before = 0);

  int rank() const override { return rank_; }
  int size() const override { return options_.members.size(); }
  int node_of(int rank) const override {
    return fabric_.scheduler.network().topology().node_of(options_.members[rank]);
  }
  Request isend(TensorView data, int dst) override;
  Request irecv(TensorView data, int src) override;
  Scratch scratch(const TensorView& like, std::int64_t count) override;

 private:
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override;
  void cancel(std::uint64_t id) noexcept override;
  void free_scratch(TensorView view) noexcept override;
  Network::Post post(const TensorView& data, int peer, bool is_send) const;
  bool is_aborted() const { return aborted_ && !aborted_->empty(); }
  void check_usable() const;  // throws if no operation of this group is possible any more
  const LostRank* lost_member(Time before) const;
  const Fabric::GaveUp* member_that_gave_up() const;
  void refuse_after_giving_up() const;
  [[noreturn]] void raise_lost(const LostRank& lost) const;
  [[noreturn]] void raise(RequestId id);
  [[noreturn]] void give_up(RequestId id);
  std::string subject() const;  // "rank 2: ring_all_reduce #17 (16384 f32)"

  std::string doing() const override { return str(options_.label); }
  CallSite where() const override { return options_.label.where; }
  std::vector<int> waits_for() const override { return {}; }  // the request says that

  Fabric& fabric_;
  TransportOptions options_;
  const std::string* aborted_;
  std::size_t before_;
  Time deadline_;
  std::uint32_t site_;
  int global_rank_, rank_;
};

class SimEndpoint final : public Endpoint {
 public:
  SimEndpoint(Fabric& fabric, int rank) : fabric_(fabric), rank_(rank), before_(fabric.gave_up.size()) {}

  int rank() const override { return rank_; }
  int world_size() const override { return fabric_.scheduler.network().ranks(); }
  std::unique_ptr<Transport> open(TransportOptions options) override;
  int carry(const Message& message, const MessageTerms& terms, const CallLabel& label) override;
  void progress(Timeout patience) override;
  void interrupt() override { fabric_.scheduler.nudge(); }
  void abort(const std::string& reason) override;
  void close(const std::string& reason) noexcept override;
  bool moves_alone() const override { return true; }
  std::string link_kind(int) const override { return "simulated"; }

 private:
  Fabric& fabric_;
  int rank_;
  std::size_t before_;   // how many had given up when this rank joined
  std::string aborted_;  // the reason; empty: it is not aborted
};

}  // namespace dist::sim
