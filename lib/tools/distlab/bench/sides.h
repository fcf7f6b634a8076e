// The two sides of a comparison: distlab's calls, and those of another library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/group/process_group.h"

#include "distlab/bench/buffers.h"
#include "distlab/bench/peer.h"

namespace distlab::bench {

class Side {
 public:
  virtual ~Side() = default;
  // Waits for all ranks in this side's own barrier, so that no rank spins inside the other library.
  virtual void synchronise() = 0;
  // Makes `calls` calls, each with the next buffers.
  virtual void run(std::int64_t calls) = 0;
  // Makes one call with the first slot, and returns its result.
  virtual dist::Tensor answer() = 0;
};

class OurSide final : public Side {
 public:
  // `group` makes the calls; it is not the default group if another backend is compared.
  OurSide(const Question& question, const std::string& algorithm, std::vector<Slot>& slots,
          const dist::ProcessGroup& group = {});
  void synchronise() override { dist::barrier({.group = options_.group}); }
  void run(std::int64_t calls) override;  // on a device: waits until their results are complete
  dist::Tensor answer() override;
  // Returns the algorithm that ran in answer(), according to the flight recorder; "-" for messages.
  const std::string& algorithm() const { return algorithm_; }

 private:
  void call(std::int64_t calls);
  void ping_pong(Slot& slot);
  const Question& question_;
  dist::Options options_;
  std::string algorithm_ = "-";
  std::vector<Slot>& slots_;
  std::size_t next_ = 0;
};

class PeerSide final : public Side {
 public:
  PeerSide(const Question& question, Form form, Peer& peer, std::vector<Slot>& slots);
  void synchronise() override { peer_.barrier(); }
  void run(std::int64_t calls) override;
  dist::Tensor answer() override;

 private:
  void ping_pong(const PeerCall& call);
  const Question& question_;
  const Form form_;
  Peer& peer_;
  std::vector<Slot>& slots_;
  std::vector<PeerCall> calls_;
  std::size_t next_ = 0;
};

}  // namespace distlab::bench
