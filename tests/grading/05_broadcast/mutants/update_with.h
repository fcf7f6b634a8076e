// For mutants of the broadcast within update_weights: the solution's update_weights with another broadcast.
// It must be included after the solution.
#pragma once

namespace lab {

template <class Broadcast>
void update_with(Broadcast broadcast, std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                 const std::vector<int>& servers, std::int64_t bucket_elements,
                 bool sends_empty_buckets = false) {
  std::vector<int> members{trainers.at(0)};
  members.insert(members.end(), servers.begin(), servers.end());
  const auto group = dist::new_group(members);
  if (!group.is_member()) return;
  for (std::size_t first = 0; first < parameters.size();) {
    const Bucket bucket = next_bucket(parameters, first, bucket_elements);
    first = bucket.end;
    if (bucket.elements == 0 && !sends_empty_buckets) continue;
    Tensor flat = dist::empty({bucket.elements});
    if (group.rank() == 0) for_each_part(parameters, bucket, flat, pack);
    broadcast(flat, 0, group);
    if (group.rank() != 0) for_each_part(parameters, bucket, flat, unpack);
  }
}

}  // namespace lab
