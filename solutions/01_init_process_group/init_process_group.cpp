// Lab 01, the solution. NOTES.md explains it.
#include "init_process_group.h"

#include <algorithm>
#include <numeric>

#include "dist/core/fail.h"
#include "dist/group/process_group.h"

namespace lab {

using dist::Errc, dist::fail;

Place place_of(const std::vector<int>& processes_per_node, int node, int local_rank) {
  const int nodes = static_cast<int>(processes_per_node.size());
  if (node < 0 || node >= nodes)
    fail(Errc::invalid_argument, "node {} does not exist: the job has {} nodes", node, nodes);
  if (local_rank < 0 || local_rank >= processes_per_node[node]) {
    fail(Errc::invalid_argument, "node {} runs {} processes and has no local rank {}", node,
         processes_per_node[node], local_rank);
  }
  const auto first = processes_per_node.begin();
  const int before = std::accumulate(first, first + node, 0);
  const int all = std::accumulate(first, processes_per_node.end(), 0);
  return {.rank = before + local_rank, .local_rank = local_rank, .world_size = all};
}

namespace {

std::string member_key(int rank) { return fmt::format("member/{}", rank); }

std::vector<int> missing_ranks(dist::Store& store, int world_size) {
  std::vector<int> missing;
  for (int rank = 0; rank < world_size; ++rank) {
    if (!store.check(std::vector{member_key(rank)})) missing.push_back(rank);
  }
  return missing;
}

}  // namespace

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  const auto deadline = dist::Deadline::after(timeout);  // one deadline for the whole call
  dist::PrefixStore here(job, store);
  here.set(member_key(place.rank), entry);

  std::vector<std::string> keys;
  for (int rank = 0; rank < place.world_size; ++rank) keys.push_back(member_key(rank));
  try {
    here.wait(keys, deadline);
  } catch (const dist::Error& error) {
    if (error.code() != Errc::timeout) throw;  // the store itself failed: its error says why
    const auto missing = missing_ranks(here, place.world_size);
    if (!missing.empty()) {
      fail(Errc::timeout, "rank {} of job {}: {} of {} ranks arrived in time; missing ranks: {}", place.rank,
           job, keys.size() - missing.size(), keys.size(), fmt::join(missing, ", "));
    }
  }

  std::vector<std::string> membership;
  for (const auto& key : keys) membership.push_back(here.get_text(key, dist::Deadline::never()));
  return membership;
}

std::string describe(const Process& process) {
  const auto device = process.gpus == 0 ? std::string("cpu")
                                        : fmt::format("cuda:{}", process.place.local_rank % process.gpus);
  return fmt::format("pid {} on {}, {}", process.pid, process.host, device);
}

namespace {

// In UTF-8 every byte of a character except the first is 10xxxxxx.
bool continues_a_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

std::size_t bytes_that_fit(const std::string& text, std::size_t size) {
  if (text.size() <= size) return text.size();
  while (size > 0 && continues_a_character(text[size])) --size;
  return size;
}

}  // namespace

dist::Tensor pack(const std::string& text, std::int64_t size) {
  auto packed = dist::zeros({size}, dist::DType::u8);
  const auto length = bytes_that_fit(text, static_cast<std::size_t>(size));
  std::copy_n(text.begin(), length, packed.data<std::uint8_t>().begin());
  return packed;
}

std::string unpack(const dist::Tensor& packed) {
  const auto bytes = packed.data<std::uint8_t>();
  return {bytes.begin(), std::find(bytes.begin(), bytes.end(), 0)};
}

std::vector<std::string> exchange(const std::string& text, std::int64_t size) {
  std::vector<dist::Tensor> gathered;
  for (int rank = 0; rank < dist::get_world_size(); ++rank) {
    gathered.push_back(dist::empty({size}, dist::DType::u8));  // copies of one Tensor would share its storage
  }
  dist::all_gather(gathered, pack(text, size));

  std::vector<std::string> texts;
  for (const auto& packed : gathered) texts.push_back(unpack(packed));
  return texts;
}

}  // namespace lab
