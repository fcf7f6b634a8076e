// Lab 01, the specification: separate processes find each other and become one group.
// You write these functions in init_process_group.cpp. Do not change this file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/store/store.h"

namespace lab {

// The place of one process in its job.
struct Place {
  int rank = 0;        // in the whole job: 0 to world_size - 1
  int local_rank = 0;  // on its own node: 0 to (number of processes on that node) - 1
  int world_size = 1;  // the number of processes on all nodes together
};

// Part 1. Computes the place of one process.
// - Input: processes_per_node[i] is the number of processes on node i; the number of this node; the local
//   rank of this process.
// - Output: its place. Ranks are numbered node by node: first all processes of node 0 in the order of their
//   local ranks, then all of node 1, and so on. Nodes may run different numbers of processes, also none.
// - Error: dist::Error{invalid_argument} if the node is not in the list, or has no such local rank.
// - Example: place_of({3, 1, 2}, 2, 1) is rank 5 of 6 with local rank 1.
Place place_of(const std::vector<int>& processes_per_node, int node, int local_rank);

// Part 2. Exchanges one entry per process through the store. Every process of the job calls this function
// with its own place and its own entry.
// - Input: the store; the name of the job; this process's place; its entry (any bytes, 0 to 64 KiB).
// - Output: the entries of all processes, the same list on every rank: element r is the entry of rank r.
// - Constraint: it blocks until all place.world_size processes have called it. All ranks must follow the same
//   protocol: the entry of a rank is the value of the key
//     "<job>/member/<rank>"          for example "run-7/member/0"
//   Several jobs may use one store at the same time. Write no key that begins with the name of another job.
// - Error: `timeout` limits the whole call, however many ranks are late. When it has passed and ranks are
//   still missing, throw dist::Error{timeout}. Its text ends with the numbers of all missing ranks,
//   ascending:
//     "... missing ranks: 2, 5"
// - Example: if rank 2 of 4 never starts, the other three throw "... missing ranks: 2" after `timeout`.
std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout);

// A process, and the host on which it runs.
struct Process {
  int pid = 0;
  std::string host;
  int gpus = 0;  // the number of GPUs of this host
  Place place;
};

// Part 3. Describes a process in one line.
// - Output: "pid 4711 on node-a, cuda:1", or "pid 4711 on node-a, cpu" if the host has no GPU.
// - Constraint: the processes of a host take its GPUs in turn; if there are more processes than GPUs, they
//   share them.
// - Example: rank 7 with local rank 3 on a host with 2 GPUs uses cuda:1.
std::string describe(const Process& process);

// Part 4. Puts a text into a tensor of a fixed size.
// - Input: a UTF-8 text without zero bytes; the size.
// - Output: a one-dimensional u8 tensor with exactly `size` elements: the bytes of the text, then zeros.
// - Constraint: a text of more than `size` bytes is cut, but never in the middle of a character.
// - Example: pack("hi", 4) is [104, 105, 0, 0].
dist::Tensor pack(const std::string& text, std::int64_t size);

// Part 4. Returns the text in a tensor that pack() has made: the bytes before the first zero, or all bytes if
// there is no zero.
// - Example: unpack(pack("four", 4)) is "four".
std::string unpack(const dist::Tensor& packed);

// Part 5. Exchanges one text per rank. Every rank of the default group calls it with its own text and with
// the same size.
// - Output: the texts of all ranks: element r is unpack(pack(text of rank r, size)).
// - Constraint: one all_gather of u8 tensors with `size` elements.
// - Example: exchange("one", 4) on rank 0 and exchange("two", 4) on rank 1 both return {"one", "two"}.
std::vector<std::string> exchange(const std::string& text, std::int64_t size);

}  // namespace lab
