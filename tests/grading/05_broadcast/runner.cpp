// The process of one rank in the grading of lab 05: a rank of the grader's simulation that calls the graded
// functions as the task says. It returns what the caller sees in its own memory, whatever the function did to
// the tensor handle.
#include "judge/runner.h"

#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "broadcast.h"

namespace {

using dist::DType, judge::Json;

dist::Tensor tensor_of(const Json& numbers) {
  const std::vector<float> values = numbers;
  return dist::tensor(std::span<const float>(values));
}

dist::Tensor data_of(const Json& round) {
  std::vector<double> numbers = round.at("numbers");
  for (double& number : numbers) number += round.at("offset").get<double>();
  const auto data = dist::tensor(std::span<const double>(numbers));
  const auto dtype = round.at("dtype");
  return data.to(dtype == "f64"   ? DType::f64
                 : dtype == "i64" ? DType::i64
                                  : DType::f32)
      .view(round.at("shape"));
}

Json seen(const dist::Tensor& mine, const dist::Tensor& now, double offset = 0) {
  auto numbers = mine.to_vector<double>();
  for (double& number : numbers) number -= offset;
  return {{"numbers", numbers}, {"same_memory", now.raw() == mine.raw()}};
}

void broadcast(const std::string& call, dist::Tensor& data, const Json& round,
               const dist::ProcessGroup& group) {
  const int root = group ? group.group_rank(round.at("root")) : round.at("root").get<int>();
  if (call == "flat_broadcast") return lab::flat_broadcast(data, root, group);
  if (call == "tree_broadcast") return lab::tree_broadcast(data, root, group);
  if (call == "chain_broadcast") return lab::chain_broadcast(data, root, round.at("segment"), group);
  throw std::logic_error("no such call: " + call);
}

Json broadcasts(const Json& task) {
  Json replies = Json::array();
  const std::vector<int> members = task.at("group");
  const auto group = members.empty() ? dist::ProcessGroup() : dist::new_group(members);
  for (const auto& round : task.at("rounds")) {
    auto data = data_of(round);
    const auto mine = data;
    dist::sim::compute(1e-6 * round.at("delay_us").get<int>());
    if (!group || group.is_member()) broadcast(task.at("call"), data, round, group);
    replies.push_back(seen(mine, data, round.at("offset")));
  }
  return replies;
}

Json update(const Json& task) {
  std::vector<dist::Tensor> parameters;
  for (const auto& parameter : task.at("parameters"))
    parameters.push_back(tensor_of(parameter.at("numbers")).view(parameter.at("shape")));
  const auto mine = parameters;
  if (task.contains("earlier")) {
    std::vector<dist::Tensor> one{dist::zeros({1})};
    lab::update_weights(one, task["earlier"].at("trainers"), task["earlier"].at("servers"), 1);
  }
  lab::update_weights(parameters, task.at("trainers"), task.at("servers"), task.at("bucket_elements"));
  Json replies = Json::array();
  for (std::size_t i = 0; i < mine.size(); ++i)
    replies.push_back(seen(mine[i], i < parameters.size() ? parameters[i] : dist::empty({1})));
  return replies;
}

Json handle(const Json& task) {
  dist::init_process_group();
  return task.at("call") == "update_weights" ? update(task) : broadcasts(task);
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
