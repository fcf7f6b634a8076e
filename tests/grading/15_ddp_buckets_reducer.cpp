// Lab 15, step 2: which gradients lie in which bucket, and that they lie there.
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "15_ddp_buckets_support.h"

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
                    "backward computes the last gradient first, so the first bucket has the last gradients: "
                    "filled from the front, the first bucket is full when all is over");
    else if (got == Buckets(forward.rbegin(), forward.rend()))
      misconception("fills_forward_and_turns_the_list",
                    "the buckets are launched from the last on, but they were filled from the first gradient "
                    "on: the small first limit went to the bucket that is launched last");
    ADD_FAILURE() << fmt::format("{} gradients, limits {{{}}}: expected the buckets {}; got {}",
                                 gradients.size(), fmt::join(limits, ", "), text(right), text(got));
    return;
  }
  std::vector<std::size_t> bucket_of(gradients.size());
  for (std::size_t bucket = 0; bucket < right.size(); ++bucket)
    for (const std::size_t i : right[bucket]) bucket_of[i] = bucket;
  if (answer.at("bucket_of") == Json(bucket_of)) return;
  ADD_FAILURE() << fmt::format("buckets {}: expected bucket_of {{{}}}; got {}", text(right),
                               fmt::join(bucket_of, ", "), answer.at("bucket_of").dump());
}

void check_memory(const Json& answer, const std::vector<Gradient>& gradients) {
  const Buckets buckets = answer.at("members");
  for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
    std::size_t count = 0;
    for (const std::size_t i : buckets[bucket]) count += elements(gradients.at(i));
    if (answer.at("counts").at(bucket) == Json({count})) continue;
    ADD_FAILURE() << fmt::format("bucket {} of {}: its memory has one dimension and {} elements; got {}",
                                 bucket, text(buckets), count, answer.at("counts").at(bucket).dump());
    return;
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (answer.at("gradients").at(i).at("in_its_bucket")) continue;
    misconception("copies_in_place_of_views",
                  "the bucket has a copy, and the gradient its old memory: what backward writes never comes "
                  "into the bucket. gradients[i] itself becomes a part of the bucket's memory");
    ADD_FAILURE() << fmt::format(
        "gradient {}: expected that it lies in its bucket's memory, behind the members before it; it lies "
        "elsewhere",
        i);
    return;
  }
}

void check_elements(const Json& answer, const std::vector<Gradient>& gradients) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Json& seen = answer.at("gradients").at(i);
    if (!seen.at("same_form")) {
      misconception("shape_lost",
                    "a part of the bucket has one dimension; view() gives it the gradient's shape back, and "
                    "whoever computes the gradient relies on it");
      ADD_FAILURE() << fmt::format("gradient {} of shape {{{}}} {}: its shape or dtype has changed", i,
                                   fmt::join(gradients[i].shape, ", "), gradients[i].dtype);
      return;
    }
    if (seen.at("same_elements")) continue;
    misconception("elements_lost",
                  "a gradient may hold something already, from a backward before: its elements move with it");
    ADD_FAILURE() << fmt::format("gradient {}: its elements have changed", i);
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
