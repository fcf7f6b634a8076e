// Lab 01, the contract: what n separate processes must do to become one group.
// You write these functions in init_process_group.cpp; this file stays as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/store/store.h"

namespace lab {

// Where one process stands in its job.
struct Place {
  int rank = 0;        // in the whole job, 0 to world_size - 1
  int local_rank = 0;  // on its own node, 0 to (processes of that node) - 1
  int world_size = 1;  // processes of all nodes together
};

// Part 1. The place of the process with `local_rank` on node number `node`, when node i runs
// processes_per_node[i] processes. Ranks are dealt out node by node: first all of node 0 in the order of
// their local ranks, then all of node 1, and so on. Nodes may differ, and a node may run none. Throws
// dist::Error{invalid_argument} for a node that is not in the list and for a local rank that its node does
// not have.
Place place_of(const std::vector<int>& processes_per_node, int node, int local_rank);

// Part 2. Every process of the job `job` calls this with its own place and its own `entry` (any bytes, at
// most 64 KiB, possibly none). Blocks until all `place.world_size` processes have called it; then returns the
// membership, the same on every rank: element r is the entry of rank r.
//
// The protocol, which all ranks must share: a rank's entry is the value of the store's key
//   "<job>/member/<rank>"          for instance "run-7/member/0"
// and nothing is stored under the names of other jobs, which may use the same store at the same time.
//
// `timeout` is for the whole call, however many ranks come late. When it has passed and ranks are still
// missing, throws dist::Error{timeout} whose text ends with all of their numbers, ascending, in this form:
//   "... missing ranks: 2, 5"
std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout);

// A process and the host it found itself on.
struct Process {
  int pid = 0;
  std::string host;
  int gpus = 0;  // of this host
  Place place;
};

// Part 3. One line about a process: "pid 4711 on node-a, cuda:1", or "pid 4711 on node-a, cpu" when its host
// has no GPU. The processes of a host take its GPUs in turn: with more processes than GPUs they share.
std::string describe(const Process& process);

// Part 4. `text` (UTF-8, without zero bytes) as a one-dimensional u8 tensor of exactly `size` elements: the
// bytes of the text, then zeros to the end. A text longer than `size` bytes is cut, never in the middle of a
// character.
dist::Tensor pack(const std::string& text, std::int64_t size);

// The text in a tensor made by pack(): the bytes before the first zero, or all of them when there is none.
std::string unpack(const dist::Tensor& packed);

// Part 5. Every rank of the default group calls this with its own text and the same `size`. Returns all the
// texts, element r from rank r, each as unpack(pack(text, size)) gives it. One all_gather of u8 tensors of
// `size` elements.
std::vector<std::string> exchange(const std::string& text, std::int64_t size);

}  // namespace lab
