// The face of distlab: process groups, point-to-point and collectives. Names, argument order and meaning
// follow torch.distributed, so that what you learn here is what you type there.
//
// Every rank of a group calls the same collectives in the same order. Ranks given as `src`, `dst` are global
// ranks, also with `.group`; `.group_src` and `.group_dst` take group ranks instead. Wrong arguments are
// refused with Error{invalid_argument} before anything moves. When a rank fails, every other rank's pending
// operation ends with an Error that names it. Synchronous CPU operations block until their result is there;
// with `.async_op = true` a call returns at once and its buffers may be touched after Work::wait().
//
// Threads of a rank may send, receive and wait at the same time. Collectives of one group come from one
// thread at a time, for they need one order: give each thread a group of its own. A forked child is in no
// job.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dist/backend/work.h"
#include "dist/core/call_site.h"
#include "dist/core/deadline.h"
#include "dist/core/tensor.h"
#include "dist/store/store.h"

namespace dist {

struct GroupState;

// A handle on a group, cheap to copy. A rank that is no member holds one too (new_group returns it on every
// rank); using it in an operation is Error{invalid_argument}.
class ProcessGroup {
 public:
  ProcessGroup() = default;
  // The library's own.
  explicit ProcessGroup(std::shared_ptr<GroupState> state) : state_(std::move(state)) {}

  explicit operator bool() const { return state_ != nullptr; }  // false of ProcessGroup{}
  bool is_member() const;                                       // whether this rank is in it
  int rank() const;                                             // in this group; -1 for a non-member
  int size() const;                                             // how many ranks
  const std::vector<int>& ranks() const;                        // global rank of each group rank
  int global_rank(int group_rank) const;                        // Error{invalid_argument} when out of range
  int group_rank(int global_rank) const;                        // -1 when not a member
  const std::string& name() const;                              // the same on all ranks
  std::string backend() const;                                  // "host"
  const std::shared_ptr<GroupState>& state() const { return state_; }  // the library's own

 private:
  std::shared_ptr<GroupState> state_;
};

// What init_process_group() is told; what is left out comes from the environment.
struct InitOptions {
  std::string backend = "auto";        // auto (or DIST_BACKEND), host, cuda, nccl, mpi, sim
  std::string init_method = "env://";  // env://, tcp://host:port, file:///path
  int rank = -1;                       // -1: from the environment
  int world_size = -1;                 // -1: from the environment
  // Default of every operation and of this call; unset: DIST_TIMEOUT (seconds), or half an hour.
  std::optional<Timeout> timeout = {};
  std::shared_ptr<Store> store = {};  // instead of init_method; needs rank and world_size
};

// Joins the job: blocks until all ranks have called it, then the default group exists. Errors: missing or
// contradictory RANK/WORLD_SIZE, unreachable master, a missing rank (named), different world sizes (named), a
// second call without destroy_process_group.
void init_process_group(const InitOptions& options = {}, Caller at = Caller::here());
// Leaves: pending collectives and sends are waited for, receives that nobody waits for are given up (and
// logged), connections are closed. With a group: only that group. While an exception is being thrown it waits
// for nothing, and the other ranks learn of it. Error{not_initialized} without a group. Other threads that
// stand in calls have 10 s for them; then, and in receives at once, they get Error{aborted}. With a group
// they keep it: after 10 s it is Error{invalid_argument}. Calls begun meanwhile: Error{not_initialized}.
void destroy_process_group(const ProcessGroup& group = {}, Caller at = Caller::here());
// Between init_process_group and destroy_process_group. Does not block.
bool is_initialized();

int get_rank(const ProcessGroup& group = {}, Caller at = Caller::here());  // -1 for a non-member of `group`
int get_world_size(const ProcessGroup& group = {},
                   Caller at = Caller::here());  // -1 for a non-member of `group`
int get_local_rank(Caller at = Caller::here());  // among the ranks of this host
// Where this rank's tensors go if nobody says otherwise: cuda(get_local_rank() modulo the GPUs here), the CPU
// where there are none, and of virtual ranks. DIST_DEVICE=cpu: the CPU; DIST_DEVICE=cuda: init_process_group
// refuses to do without a GPU, and with a backend for GPUs factories make tensors there
// (set_default_device).
Device get_device(Caller at = Caller::here());
// Its name: "host", "cuda", "nccl", "mpi" or "sim".
std::string get_backend(const ProcessGroup& group = {}, Caller at = Caller::here());
// The global rank of each group rank.
std::vector<int> get_process_group_ranks(const ProcessGroup& group = {}, Caller at = Caller::here());
ProcessGroup default_group(Caller at = Caller::here());  // Error{not_initialized} before init_process_group

// What new_group() is told.
struct NewGroupOptions {
  std::string backend = {};             // empty, or auto: the parent's
  std::optional<Timeout> timeout = {};  // unset: the parent's
};
// Makes a group of these global ranks (any order; group rank = position). EVERY rank of the default group
// calls it, members or not, in the same order: it blocks until all have.
ProcessGroup new_group(const std::vector<int>& ranks, const NewGroupOptions& options = {},
                       Caller at = Caller::here());

// What split_group() is told.
struct SplitOptions {
  ProcessGroup parent = {};  // default: the default group
};
// One group for each color; group ranks are ordered by (key, parent rank). Every rank of the parent calls it.
// A negative color joins none: that rank gets a handle without members, and using it is refused.
ProcessGroup split_group(int color, int key = 0, const SplitOptions& options = {},
                         Caller at = Caller::here());

// Options of the operations below. `.tag` is for point-to-point only; `.algorithm` for collectives only
// ("ring").
struct Options {
  ProcessGroup group = {};              // default: the default group
  bool async_op = false;                // return at once; Work::wait() later
  std::optional<Timeout> timeout = {};  // unset: the group's
  std::string algorithm = {};           // "ring"; empty: the cheapest
  int group_src = -1;                   // instead of src, as a group rank
  int group_dst = -1;                   // instead of dst, as a group rank
  std::uint64_t tag = 0;                // messages match only with equal ones
};

// Point-to-point. Messages match first-in first-out for each (source, destination, group, tag). send()
// returns when the receiver has posted its receive and the data is on its way into it (DIST_SEND=eager lets
// small ones go ahead). After Error{timeout} a short message may still be on its way: a receive that comes
// later takes it.
Work send(const Tensor& t, int dst, const Options& options = {}, Caller at = Caller::here());
// Blocks until the message is in `t`, which is as long as it.
Work recv(Tensor& t, int src, const Options& options = {}, Caller at = Caller::here());
Work recv(Tensor& t, const Options& options = {},
          Caller at = Caller::here());  // from any rank: Work::source_rank() tells which
// As send(), but returns at once: `t` is not to be written before Work::wait().
Work isend(const Tensor& t, int dst, Options options = {}, Caller at = Caller::here());
// As recv(), but returns at once: `t` is not to be touched before Work::wait().
Work irecv(Tensor& t, int src, Options options = {}, Caller at = Caller::here());
Work irecv(Tensor& t, Options options = {}, Caller at = Caller::here());  // from any rank

// batch_isend_irecv({{P2P::isend, t, 1}, {P2P::irecv, u, 3}}): all are under way before any is waited for.
struct P2P {
  // What is done.
  enum Kind { isend, irecv };
  Kind kind;                // send or receive
  Tensor tensor;            // what is sent, or where it arrives
  int peer;                 // global rank
  ProcessGroup group = {};  // default: the default group
  std::uint64_t tag = 0;    // as of Options
};
// One Work for each operation, in their order. Returns at once. Error{invalid_argument} also where `options`
// name a tag or a group rank: each operation has its own.
std::vector<Work> batch_isend_irecv(const std::vector<P2P>& operations, const Options& options = {},
                                    Caller at = Caller::here());

// Collectives. Tensors of one call have one dtype and device. `src` and `dst` default to rank 0.
Work broadcast(Tensor& t, int src, const Options& options = {},
               Caller at = Caller::here());  // in place; same shape everywhere
// The result is on `dst`; elsewhere t stays as it was.
Work reduce(Tensor& t, int dst, ReduceOp op = ReduceOp::sum, const Options& options = {},
            Caller at = Caller::here());
Work all_reduce(Tensor& t, ReduceOp op = ReduceOp::sum, const Options& options = {},
                Caller at = Caller::here());  // in place
// `list` holds one tensor a rank on the source (list[i] as long as rank i's out) and is empty elsewhere.
Work scatter(Tensor& out, const std::vector<Tensor>& list, int src, const Options& options = {},
             Caller at = Caller::here());
// `list` holds one tensor a rank on the destination and is empty elsewhere.
Work gather(const Tensor& t, std::vector<Tensor>& list, int dst, const Options& options = {},
            Caller at = Caller::here());
// list[i] is as long as rank i's t.
Work all_gather(std::vector<Tensor>& list, const Tensor& t, const Options& options = {},
                Caller at = Caller::here());
// out.numel() == n * t.numel()
Work all_gather_into_tensor(Tensor& out, const Tensor& t, const Options& options = {},
                            Caller at = Caller::here());
// The sum of all ranks' list[rank] is in this rank's `out`; the lists stay as they are.
Work reduce_scatter(Tensor& out, const std::vector<Tensor>& list, ReduceOp op = ReduceOp::sum,
                    const Options& options = {}, Caller at = Caller::here());
// t.numel() == n * out.numel(): the n parts lie one behind the other.
Work reduce_scatter_tensor(Tensor& out, const Tensor& t, ReduceOp op = ReduceOp::sum,
                           const Options& options = {}, Caller at = Caller::here());
// ins[i] goes to rank i, outs[i] comes from rank i; one tensor a rank in both.
Work all_to_all(std::vector<Tensor>& outs, const std::vector<Tensor>& ins, const Options& options = {},
                Caller at = Caller::here());
// Splits count rows of the first axis for each rank; empty: equal shares.
Work all_to_all_single(Tensor& out, const Tensor& in, const std::vector<std::int64_t>& out_splits = {},
                       const std::vector<std::int64_t>& in_splits = {}, const Options& options = {},
                       Caller at = Caller::here());
// Blocks until all ranks of the group have called it.
Work barrier(const Options& options = {}, Caller at = Caller::here());
// A barrier that tells who is missing: group rank 0 waits for each rank's message and after `timeout` throws
// Error{timeout} naming all that did not come, at once {peer_failed} where one has left; so do the others.
void monitored_barrier(Timeout timeout, const Options& options = {}, Caller at = Caller::here());

// What stands between tensors and options may be left out, as in torch: all_reduce(t, {.group = g}) sums, and
// all_to_all_single(out, in, {.group = g}) has equal shares.
inline Work reduce(Tensor& t, int dst, const Options& options, Caller at = Caller::here()) {
  return reduce(t, dst, ReduceOp::sum, options, at);
}
inline Work all_reduce(Tensor& t, const Options& options, Caller at = Caller::here()) {
  return all_reduce(t, ReduceOp::sum, options, at);
}
inline Work reduce_scatter(Tensor& out, const std::vector<Tensor>& list, const Options& options,
                           Caller at = Caller::here()) {
  return reduce_scatter(out, list, ReduceOp::sum, options, at);
}
inline Work reduce_scatter_tensor(Tensor& out, const Tensor& t, const Options& options,
                                  Caller at = Caller::here()) {
  return reduce_scatter_tensor(out, t, ReduceOp::sum, options, at);
}
inline Work all_to_all_single(Tensor& out, const Tensor& in, const Options& options,
                              Caller at = Caller::here()) {
  return all_to_all_single(out, in, {}, {}, options, at);
}

// Strings and bytes of any length, without preparing tensors.
// Two messages, as of send() and recv(): the length, then the bytes.
void send_object(const std::string& object, int dst, const Options& options = {}, Caller at = Caller::here());
// Returns the rank that sent it, a global one, as torch's recv_object_list.
int recv_object(std::string& object, int src, const Options& options = {}, Caller at = Caller::here());
int recv_object(std::string& object, const Options& options = {},
                Caller at = Caller::here());  // from any rank
// src's string, on every rank.
void broadcast_object(std::string& object, int src, const Options& options = {}, Caller at = Caller::here());
// One string a rank, in the order of the ranks, on every rank.
std::vector<std::string> all_gather_object(const std::string& object, const Options& options = {},
                                           Caller at = Caller::here());
// On dst: one string a rank; elsewhere empty.
std::vector<std::string> gather_object(const std::string& object, int dst, const Options& options = {},
                                       Caller at = Caller::here());
// On src `objects` holds one string a rank; elsewhere it is empty. Returns this rank's.
std::string scatter_object(const std::vector<std::string>& objects, int src, const Options& options = {},
                           Caller at = Caller::here());

}  // namespace dist
