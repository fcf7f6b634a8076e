// Lab 05, the solution. NOTES.md explains it.
#include "broadcast.h"

#include <algorithm>

namespace lab {

using dist::ProcessGroup, dist::Tensor, dist::Work;

namespace {

// Relative ranks, called places here: a rank's number counted from the root, and the reverse.
struct Places {
  int root, n;
  int place_of(int rank) const { return (rank - root + n) % n; }
  int rank_at(int place) const { return (root + place) % n; }
};

}  // namespace

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  if (dist::get_rank(group) != root) {
    dist::recv(data, 0, {.group = group, .group_src = root});
    return;
  }
  const int n = dist::get_world_size(group);
  for (int peer = 0; peer < n; ++peer) {
    if (peer != root) dist::send(data, 0, {.group = group, .group_dst = peer});
  }
}

// The binomial tree, in relative ranks: v receives the data from v without its lowest set bit, and sends it
// to v + distance for each power of two below that bit, the largest first.
void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  int distance = 1;
  while (distance < places.n && (place & distance) == 0) distance *= 2;
  if (place != 0) dist::recv(data, 0, {.group = group, .group_src = places.rank_at(place - distance)});
  for (distance /= 2; distance > 0; distance /= 2) {
    const int child = place + distance;
    if (child < places.n) dist::send(data, 0, {.group = group, .group_dst = places.rank_at(child)});
  }
}

// All receives are started before the first segment arrives, so that no sender ever waits for a receive.
void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  const int from = places.rank_at(place + places.n - 1), to = places.rank_at(place + 1);
  const Tensor flat = data.view({data.numel()});
  std::vector<Tensor> parts;
  for (std::int64_t start = 0; start < flat.numel(); start += segment)
    parts.push_back(flat.narrow(start, std::min(segment, flat.numel() - start)));

  std::vector<Work> arriving(parts.size()), leaving;
  for (std::size_t i = 0; i < parts.size() && place > 0; ++i)
    arriving[i] = dist::irecv(parts[i], 0, {.group = group, .group_src = from});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    arriving[i].wait();
    if (place < places.n - 1) leaving.push_back(dist::isend(parts[i], 0, {.group = group, .group_dst = to}));
  }
  for (auto& work : leaving) work.wait();
}

namespace {

// The tensors of one bucket: parameters[first] to parameters[end - 1].
struct Bucket {
  std::size_t first, end;
  std::int64_t elements;
};

Bucket next_bucket(const std::vector<Tensor>& parameters, std::size_t first, std::int64_t limit) {
  Bucket bucket{first, first, 0};
  while (bucket.end < parameters.size()) {
    const auto more = parameters[bucket.end].numel();
    if (bucket.elements > 0 && more > limit - bucket.elements) break;
    bucket.elements += more;
    ++bucket.end;
  }
  return bucket;
}

// Calls copy(tensor, its slice of the flat bucket) for each tensor of the bucket.
template <class Copy>
void for_each_part(std::vector<Tensor>& parameters, const Bucket& bucket, const Tensor& flat, Copy copy) {
  std::int64_t start = 0;
  for (std::size_t i = bucket.first; i < bucket.end; ++i) {
    const auto count = parameters[i].numel();
    Tensor tensor = parameters[i].view({count}), place = flat.narrow(start, count);
    copy(tensor, place);
    start += count;
  }
}

void pack(Tensor& tensor, Tensor& place) { place.copy_(tensor); }
void unpack(Tensor& tensor, Tensor& place) { tensor.copy_(place); }

}  // namespace

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  std::vector<int> members{trainers.at(0)};
  members.insert(members.end(), servers.begin(), servers.end());
  const auto group = dist::new_group(members);  // on every rank, whether it is a member or not
  if (!group.is_member()) return;

  const bool is_trainer = group.rank() == 0;
  for (std::size_t first = 0; first < parameters.size();) {
    const Bucket bucket = next_bucket(parameters, first, bucket_elements);
    first = bucket.end;
    if (bucket.elements == 0) continue;
    Tensor flat = dist::empty({bucket.elements});
    if (is_trainer) for_each_part(parameters, bucket, flat, pack);
    tree_broadcast(flat, 0, group);
    if (!is_trainer) for_each_part(parameters, bucket, flat, unpack);
  }
}

}  // namespace lab
