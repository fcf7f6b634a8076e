// Messages and collectives of strings and bytes of any length, and of several tensors at once.
// process_group.h includes this.
#pragma once

#include <string>
#include <vector>

#include "dist/group/process_group.h"

namespace dist {

// No tensor has to be prepared. They throw the same errors as the operations on tensors. send_object sends
// two messages, as send() does: the length, then the bytes.
void send_object(const std::string& object, int dst, const Options& options = {}, Caller at = Caller::here());
// Returns the global rank that sent the object, as torch's recv_object_list does.
int recv_object(std::string& object, int src, const Options& options = {}, Caller at = Caller::here());
int recv_object(std::string& object, const Options& options = {},
                Caller at = Caller::here());  // from any rank
// Several at once. The receiver's list becomes the sender's. Returns the global rank that sent it.
void send_object_list(const std::vector<std::string>& objects, int dst, const Options& options = {},
                      Caller at = Caller::here());
int recv_object_list(std::vector<std::string>& objects, int src, const Options& options = {},
                     Caller at = Caller::here());
int recv_object_list(std::vector<std::string>& objects, const Options& options = {},
                     Caller at = Caller::here());  // from any rank
// After the call `object` is src's string on every rank.
void broadcast_object(std::string& object, int src, const Options& options = {}, Caller at = Caller::here());
// Returns one string per rank, in rank order, on every rank.
std::vector<std::string> all_gather_object(const std::string& object, const Options& options = {},
                                           Caller at = Caller::here());
// Returns one string per rank on dst, and an empty list on the other ranks.
std::vector<std::string> gather_object(const std::string& object, int dst, const Options& options = {},
                                       Caller at = Caller::here());
// On src, `objects` holds one string per rank; on the other ranks it is empty. Returns this rank's string.
std::string scatter_object(const std::vector<std::string>& objects, int src, const Options& options = {},
                           Caller at = Caller::here());

// all_reduce of each tensor, in place, by one collective. The tensors have one dtype, are on one device and
// share no memory; .async_op is refused.
void all_reduce_coalesced(const std::vector<Tensor>& tensors, ReduceOp op = ReduceOp::sum,
                          const Options& options = {}, Caller at = Caller::here());

}  // namespace dist
