// The process of one rank in the grading of lab 12: it calls the graded functions as the grader's task says.
#include "judge/runner.h"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "choose_an_algorithm.h"

namespace {

using judge::attempt, judge::Json;

std::vector<lab::Point> points_of(const Json& pairs) {
  std::vector<lab::Point> points;
  for (const auto& pair : pairs) points.push_back({pair.at(0), pair.at(1)});
  return points;
}

lab::Costs costs_of(const Json& c) { return {c.at(0), c.at(1), c.at(2)}; }

lab::Machine machine_of(const Json& one) {
  return {one.at("nodes"), one.at("gpus"), costs_of(one.at("within")), costs_of(one.at("between"))};
}

lab::Algorithm algorithm_of(const Json& one) {
  return lab::all_algorithms.at(one.at("algorithm").get<std::size_t>());
}

Json line(const Json& one) {
  const auto fitted = lab::fit_line(points_of(one.at("points")));
  return {fitted.at_zero, fitted.per_byte};
}

Json costs(const Json& one) {
  const auto found = lab::costs_of(points_of(one.at("one_way")), points_of(one.at("burst")));
  return {found.alpha, found.overhead, found.beta};
}

Json seconds(const Json& one) { return lab::predict(algorithm_of(one), machine_of(one), one.at("bytes")); }

Json bytes(const Json& one) {
  const auto counted = lab::traffic(algorithm_of(one), one.at("ranks"), one.at("bytes"));
  return {counted.total, counted.busiest};
}

Json choice(const Json& one) { return static_cast<int>(lab::choose(machine_of(one), one.at("bytes"))); }

Json for_each_case(const Json& task, Json (*answer)(const Json&)) {
  Json answers = Json::array();
  for (const auto& one : task.at("cases")) answers.push_back(attempt([&] { return answer(one); }));
  return answers;
}

template <class T>
dist::Tensor tensor_of(const Json& numbers) {
  const std::vector<T> values = numbers;
  return dist::tensor(std::span<const T>(values));
}

// Makes one call after another, in groups that are created once: `items` of {dtype, numbers}.
Json all_reduces(const Json& task) {
  dist::init_process_group();
  const auto groups = lab::make_groups(task.at("gpus"));
  Json replies = Json::array();
  for (const auto& item : task.at("items")) {
    const bool whole = item.at("dtype") == "i64";
    auto data = whole ? tensor_of<std::int64_t>(item.at("numbers")) : tensor_of<float>(item.at("numbers"));
    const auto mine = data;
    lab::hierarchical_all_reduce(data, groups);
    Json numbers = mine.to_vector<double>();
    if (whole) numbers = mine.to_vector<std::int64_t>();
    replies.push_back({{"numbers", numbers}, {"same_memory", mine.raw() == data.raw()}});
  }
  return replies;
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) -> Json {
    const std::string call = task.at("call");
    if (call == "fit_line") return for_each_case(task, line);
    if (call == "costs_of") return for_each_case(task, costs);
    if (call == "predict") return for_each_case(task, seconds);
    if (call == "traffic") return for_each_case(task, bytes);
    if (call == "choose") return for_each_case(task, choice);
    if (call == "hierarchical_all_reduce") return attempt([&] { return all_reduces(task); });
    throw std::logic_error("no such call: " + call);
  });
}
