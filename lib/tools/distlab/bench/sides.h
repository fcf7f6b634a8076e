// Who is measured: distlab's calls, or another library's.
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
  // Waits for all ranks by this side's own barrier: nobody is left inside the other library, spinning.
  virtual void synchronise() = 0;
  // So many calls, each on the next buffers.
  virtual void run(std::int64_t calls) = 0;
  // One call on the first slot, which then holds its result; returns that.
  virtual dist::Tensor answer() = 0;
};

class OurSide final : public Side {
 public:
  // `group`: whose calls are measured; the default one, unless another backend is to be compared.
  OurSide(const Question& question, const std::string& algorithm, std::vector<Slot>& slots,
          const dist::ProcessGroup& group = {});
  void synchronise() override { dist::barrier({.group = options_.group}); }
  void run(std::int64_t calls) override;  // on a device: until their results are there
  dist::Tensor answer() override;
  // What ran in answer(), as the flight recorder has it; "-" for messages.
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
