// Lab 15, part 2: which gradients are in which bucket, and that they are in its memory.
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab15 {
namespace {

using judge::misconception;

std::size_t elements(const Gradient& gradient) {
  return static_cast<std::size_t>(
      std::accumulate(gradient.shape.begin(), gradient.shape.end(), std::int64_t{1}, std::multiplies<>()));
}

Filling filling(const std::vector<Gradient>& gradients, const Limits& limits) {
  Filling question{{}, limits};
  for (const auto& gradient : gradients)
    question.sizes.push_back({elements(gradient) * (gradient.dtype == "f64" ? 8 : 4), gradient.dtype});
  return question;
}

Buckets from_the_last(const std::vector<Gradient>& gradients, const Limits& limits) {
  const auto buckets = filled(filling({gradients.rbegin(), gradients.rend()}, limits));
  Buckets turned;
  for (const auto& members : buckets) {
    turned.emplace_back();
    for (const std::size_t i : members) turned.back().push_back(gradients.size() - 1 - i);
  }
  return turned;
}

void check_order(const Json& answer, const std::vector<Gradient>& gradients, const Limits& limits) {
  const auto right = from_the_last(gradients, limits);
  const Buckets got = answer.at("members");
  if (got != right) {
    const auto forward = filled(filling(gradients, limits));
    if (got == forward)
      misconception("first_gradient_first",
                    "backward computes the last gradient first, so a first bucket that is filled from the "
                    "first gradient on is complete last; fix: fill the buckets from the last gradient on");
    else if (got == Buckets(forward.rbegin(), forward.rend()))
      misconception("fills_forward_and_turns_the_list",
                    "the buckets are launched from the last one on, but they were filled from the first "
                    "gradient on, so the small first limit went to the bucket that is launched last; fix: "
                    "reverse the gradients before filling the buckets");
    const auto at = first_difference(right, got);
    ADD_FAILURE() << fmt::format("{} gradients, limits {{{}}}: bucket {} must be {}; it is {}",
                                 gradients.size(), fmt::join(limits, ", "), at, bucket_text(right, at),
                                 bucket_text(got, at));
    return;
  }
  std::vector<std::size_t> bucket_of(gradients.size());
  for (std::size_t bucket = 0; bucket < right.size(); ++bucket)
    for (const std::size_t i : right[bucket]) bucket_of[i] = bucket;
  for (const Json& pending : answer.at("pending")) {
    if (pending == 0) continue;
    ADD_FAILURE() << fmt::format("a new reducer: `pending` of every bucket must be 0; it is {}",
                                 answer.at("pending").dump());
    return;
  }
  for (std::size_t i = 0; i < bucket_of.size(); ++i) {
    if (answer.at("bucket_of").size() == bucket_of.size() && answer["bucket_of"][i] == bucket_of[i]) continue;
    ADD_FAILURE() << fmt::format(
        "{} gradients, the last of them in bucket 0: bucket_of[{}] must be {}; bucket_of is {}",
        bucket_of.size(), i, bucket_of[i], answer["bucket_of"].dump());
    return;
  }
}

void check_memory(const Json& answer, const std::vector<Gradient>& gradients) {
  const Buckets buckets = answer.at("members");
  for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
    std::size_t count = 0;
    for (const std::size_t i : buckets[bucket]) count += elements(gradients.at(i));
    if (answer.at("counts").at(bucket) == Json({count})) continue;
    ADD_FAILURE() << fmt::format(
        "bucket {}, gradients {}: its memory must have one dimension of {} elements; it has the shape {}",
        bucket, bucket_text(buckets, bucket), count, answer.at("counts").at(bucket).dump());
    return;
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (answer.at("gradients").at(i).at("in_its_bucket")) continue;
    if (!answer.at("gradients").at(i).at("shares_its_buckets_memory"))
      misconception(
          "copies_in_place_of_views",
          "the bucket has a copy, and the gradient still has its old memory, so what backward writes never "
          "reaches the bucket; fix: make gradients[i] itself a part of the bucket's memory");
    ADD_FAILURE() << fmt::format(
        "gradient {} must be in its bucket's memory, directly after the gradients before it; it is elsewhere",
        i);
    return;
  }
}

void check_elements(const Json& answer, const std::vector<Gradient>& gradients) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Json& seen = answer.at("gradients").at(i);
    if (!seen.at("same_form")) {
      if (seen.at("same_dtype"))
        misconception("shape_lost",
                      "the gradient has become a one-dimensional part of the bucket, but the code that "
                      "computes it relies on its shape; fix: restore the shape with view()");
      ADD_FAILURE() << fmt::format("gradient {} of shape {{{}}} {}: its shape or dtype has changed", i,
                                   fmt::join(gradients[i].shape, ", "), gradients[i].dtype);
      return;
    }
    if (seen.at("same_elements")) continue;
    misconception("elements_lost",
                  "the bucket's memory is new, and the elements of the gradient are lost; fix: copy them "
                  "into the bucket, because they may be those of an earlier backward");
    ADD_FAILURE() << fmt::format("gradient {}: its elements must stay as they were; they have changed", i);
    return;
  }
}

}  // namespace

void expect_reducer(judge::Random& random, const std::vector<Gradient>& gradients, const Limits& limits,
                    Look look) {
  Json task{{"call", "make_reducer"}, {"limits", limits}, {"gradients", Json::array()}};
  for (const auto& gradient : gradients)
    task["gradients"].push_back(
        {{"shape", gradient.shape}, {"dtype", gradient.dtype}, {"value", random.between(1, 1000)}});
  const auto replies = answers(run({task}, false));
  if (replies.empty()) return;
  if (look == Look::order) check_order(replies[0], gradients, limits);
  if (look == Look::memory) check_memory(replies[0], gradients);
  if (look == Look::elements) check_elements(replies[0], gradients);
}

}  // namespace lab15
