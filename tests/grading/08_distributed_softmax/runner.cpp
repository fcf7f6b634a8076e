// The process of one rank in the grading of lab 08: a rank of the grader's simulation that calls the graded
// functions as the task says. It returns what the caller sees in its own memory, whatever the function did to
// the tensor handle. Numbers travel as text, because JSON has no infinity.
#include "judge/runner.h"

#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "distributed_softmax.h"

namespace {

using dist::Tensor;
using judge::Json;

double number(const Json& text) { return std::strtod(text.get<std::string>().c_str(), nullptr); }

std::vector<double> numbers(const Json& texts) {
  std::vector<double> result;
  for (const auto& text : texts) result.push_back(number(text));
  return result;
}

Json texts(const std::vector<double>& numbers) {
  Json result = Json::array();
  for (const double x : numbers) result.push_back(fmt::format("{}", x));
  return result;
}

void call(const std::string& name, Tensor& data, const Json& item) {
  if (name == "weighted_mean") return lab::weighted_mean(data, number(item.at("weight")));
  if (name == "normalize") return lab::normalize(data);
  if (name == "softmax_over_ranks") return lab::softmax_over_ranks(data);
  if (name == "softmax_of_row") return lab::softmax_of_row(data);
  if (name == "softmax_in_one") return lab::softmax_in_one(data);
  throw std::logic_error("no such call: " + name);
}

Json one(const std::string& name, const Json& item) {
  const auto values = numbers(item.at("numbers"));
  const auto dtype = item.at("dtype") == "f64" ? dist::DType::f64 : dist::DType::f32;
  Tensor data = dist::tensor(std::span<const double>(values)).to(dtype);
  const Tensor mine = data;
  if (name == "cross_entropy") {
    const double loss = lab::cross_entropy(data, item.at("first"), item.at("target"));
    const bool unchanged = mine.to_vector<double>() == values;
    return {{"numbers", texts({loss})}, {"same_memory", true}, {"unchanged", unchanged}};
  }
  call(name, data, item);
  return {{"numbers", texts(mine.to_vector<double>())}, {"same_memory", mine.raw() == data.raw()}};
}

// Merges the pairs of a list as `order` says: a sequence of indices i; pairs i and i + 1 become one.
Json merged(const Json& item) {
  std::vector<lab::MaxSum> pairs;
  for (const auto& pair : item.at("pairs")) pairs.push_back({number(pair.at(0)), number(pair.at(1))});
  for (const auto& place : item.at("order")) {
    const auto at = place.get<std::ptrdiff_t>();
    pairs[static_cast<std::size_t>(at)] =
        lab::merge(pairs[static_cast<std::size_t>(at)], pairs[static_cast<std::size_t>(at + 1)]);
    pairs.erase(pairs.begin() + at + 1);
  }
  return texts({pairs.at(0).max, pairs.at(0).sum});
}

Json handle(const Json& task) {
  dist::init_process_group();
  const std::string name = task.at("call");
  Json replies = Json::array();
  for (const auto& item : task.at("items"))
    replies.push_back(name == "merge" ? merged(item) : one(name, item));
  return replies;
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
