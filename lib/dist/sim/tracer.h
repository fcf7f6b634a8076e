// Tracer: what happens in a simulation, as events (trace/event.h). It is notified by scheduler, network and
// transport, and of calls by the code that runs the simulation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "dist/core/view.h"
#include "dist/sim/network.h"
#include "dist/trace/call.h"
#include "dist/trace/contributors.h"
#include "dist/trace/event.h"
#include "dist/trace/recorder.h"
#include "dist/transport/endpoint.h"

namespace dist::sim {

class Tracer final : public NetworkTracer {
 public:
  Tracer(std::string title, int ranks);

  // New memory: contributors to what was there before no longer count.
  void allocated(int rank, const void* memory, std::size_t bytes);
  // From the time when a call is issued until its buffers are the user's again.
  void call_begins(int rank, trace::Call call, Time at);
  void call_ends(int rank, std::uint64_t record, Time at, trace::Ending ending);
  // The rank is gone: its calls are cut off.
  void lost(int rank, Time at);
  // A send or receive is about to be posted, with this number (NetRequest::site).
  void posting(std::uint32_t number, int rank, const TransportOptions& options, const TensorView& data,
               bool is_send, Time at);
  void waited(int rank, Time begin, Time end, CallSite where);
  void computed(int rank, Time begin, Time end);
  void reduced(int rank, const void* to, const void* from, std::size_t bytes, Time begin, Time end);
  void copied(int rank, const void* to, const void* from, std::size_t bytes);

  // Cuts off what is still open. To be called once.
  trace::Trace take(Time now);

 private:
  struct OpenCall {
    trace::Call call;
    trace::Offsets offsets;
  };
  struct Rank {
    std::vector<OpenCall> calls;
    trace::Contributors contributors;
  };
  struct Message {
    trace::Event event;  // as far as it is known
    const void* data;
  };
  void sent(const NetRequest& send, Time begin, Time end) override;
  void arrived(const NetRequest& send, const NetRequest& recv, Time at) override;
  Rank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  std::int64_t offset_of(int rank, const void* data);
  trace::Event describe(int rank, const TransportOptions& options);
  void add_call(const OpenCall& open, Time end, trace::Ending ending);

  trace::Recorder recorder_;
  std::vector<Rank> ranks_;
  std::unordered_map<std::uint32_t, Message> messages_;  // posted, not arrived yet
};

}  // namespace dist::sim
