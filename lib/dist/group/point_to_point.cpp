// send, recv and their asynchronous forms: send_call() and recv_call() check and build the operation;
// batch_isend_irecv() checks all of its operations before it starts the first.
#include "dist/core/fail.h"
#include "dist/core/rank_label.h"
#include "dist/group/call.h"
#include "dist/group/observed_work.h"
#include "dist/transport/transport.h"

namespace dist {
namespace {

// The names that the caller uses for the call and its arguments.
struct Words {
  std::string_view call, tensor, peer;
};

Call send_call(const Words& words, const Tensor& t, int dst, const Options& options, Caller at) {
  Call call(OpKind::send, words.call, options, at);
  call.check_defined(words.tensor, t);
  call.operation.peer = call.group_rank(words.peer, dst, options.group_dst);
  call.operation.inputs.borrow(t);
  return call;
}

Call recv_call(const Words& words, const Tensor& t, int src, const Options& options, Caller at) {
  Call call(OpKind::recv, words.call, options, at);
  call.check_defined(words.tensor, t);
  call.operation.peer = call.group_rank(words.peer, src, options.group_src);
  call.operation.outputs.borrow(t);
  return call;
}
Call recv_call(std::string_view name, const Tensor& t, int src, const Options& options, Caller at) {
  return recv_call(Words{name, "t", "src"}, t, src, options, at);
}

// `.group_src` still names a source.
Call recv_from_any(std::string_view name, const Tensor& t, const Options& options, Caller at) {
  if (options.group_src != -1) return recv_call(name, t, any_rank, options, at);
  Call call(OpKind::recv, name, options, at);
  call.check_defined("t", t);
  call.operation.peer = any_rank;
  call.operation.outputs.borrow(t);
  return call;
}

}  // namespace

Work send(const Tensor& t, int dst, const Options& options, Caller at) {
  Call call = send_call({"send", "t", "dst"}, t, dst, options, at);
  if (!call.async && call.operation.peer == call.group.rank) {
    call.refuse(
        "a blocking send to oneself cannot end: the receive would have to come after it; use isend and "
        "irecv");
  }
  return call.issue();
}

Work recv(Tensor& t, int src, const Options& options, Caller at) {
  return recv_call("recv", t, src, options, at).issue();
}

Work recv(Tensor& t, const Options& options, Caller at) {
  return recv_from_any("recv", t, options, at).issue();
}

Work isend(const Tensor& t, int dst, Options options, Caller at) {
  options.async_op = true;
  return send_call({"isend", "t", "dst"}, t, dst, options, at).issue();
}

Work irecv(Tensor& t, int src, Options options, Caller at) {
  options.async_op = true;
  return recv_call("irecv", t, src, options, at).issue();
}

Work irecv(Tensor& t, Options options, Caller at) {
  options.async_op = true;
  return recv_from_any("irecv", t, options, at).issue();
}

std::vector<Work> batch_isend_irecv(const std::vector<P2P>& operations, const Options& options, Caller at) {
  constexpr std::string_view name = "batch_isend_irecv";
  if (options.tag != 0 || options.group_src != -1 || options.group_dst != -1)
    fail(Errc::invalid_argument,
         "rank {}: {} at {}: .tag, .group_src and .group_dst belong to a single message; "
         "give each P2P its own peer and tag",
         current_rank_label(), name, at.str());
  std::vector<Call> calls;
  calls.reserve(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const P2P& each = operations[i];
    Options of_each = options;
    of_each.async_op = true;  // like isend and irecv: the rank goes on
    if (each.group) of_each.group = each.group;
    of_each.tag = each.tag;
    const std::string tensor = fmt::format("operations[{}].tensor", i),
                      peer = fmt::format("operations[{}].peer", i);
    const Words words{name, tensor, peer};
    calls.push_back(each.kind == P2P::isend ? send_call(words, each.tensor, each.peer, of_each, at)
                                            : recv_call(words, each.tensor, each.peer, of_each, at));
  }
  // All of them are correct before the first one is numbered; each group's operations go to its backend
  // together.
  for (const auto& call : calls) call.check_supported();
  std::vector<Work> works(calls.size());
  std::vector<bool> submitted(calls.size());
  for (std::size_t first = 0; first < calls.size(); ++first) {
    if (submitted[first]) continue;
    std::vector<Operation> batch;
    std::vector<std::size_t> places;
    for (std::size_t i = first; i < calls.size(); ++i) {
      if (&calls[i].group != &calls[first].group) continue;
      calls[i].admit();
      batch.push_back(std::move(calls[i].operation));
      places.push_back(i);
      submitted[i] = true;
    }
    const auto states = submit(calls[first].group, std::move(batch));
    for (std::size_t i = 0; i < places.size(); ++i) works[places[i]] = states[i];
  }
  return works;
}

}  // namespace dist
