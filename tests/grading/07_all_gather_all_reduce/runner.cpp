// The process of one rank in the grading of lab 07: a rank of the grader's simulation that calls the graded
// functions as the task says. It returns what the caller sees in its own memory, whatever the function did to
// the tensor handle.
#include "judge/runner.h"

#include <nlohmann/json.hpp>

#include "dist/core/todo.h"
#include "dist/dist.h"

#include "all_gather_all_reduce.h"

namespace {

using dist::Tensor;
using judge::Json;

constexpr double untouched = -77;  // what an output holds before the call

template <class T>
Tensor tensor_from(const Json& numbers) {
  const std::vector<T> values = numbers;
  return dist::tensor(std::span<const T>(values));
}

Tensor tensor_of(const std::string& dtype, const Json& numbers) {
  if (dtype == "i64") return tensor_from<std::int64_t>(numbers);
  if (dtype == "f64") return tensor_from<double>(numbers);
  return tensor_from<float>(numbers);
}

Json numbers_of(const Tensor& t) {
  if (t.dtype() == dist::DType::i64) return t.to_vector<std::int64_t>();
  return t.to_vector<double>();
}

Json gather(const Json& item) {
  Tensor mine = tensor_of(item.at("dtype"), item.at("numbers"));
  const auto k = mine.numel();
  Tensor all = dist::full({dist::get_world_size() * k}, untouched, mine.dtype());
  if (item.at("view")) {
    Tensor own = all.narrow(dist::get_rank() * k, k);
    own.copy_(mine);
    mine = own;
  }
  const Tensor output = all;
  lab::all_gather(all, mine);
  return {{"numbers", numbers_of(output)},
          {"same_memory", output.raw() == all.raw()},
          {"input", numbers_of(mine)}};
}

Json reduce(const Json& item, void (*call)(Tensor&)) {
  Tensor data = tensor_of(item.at("dtype"), item.at("numbers"));
  const Tensor mine = data;
  call(data);
  return {{"numbers", numbers_of(mine)}, {"same_memory", mine.raw() == data.raw()}};
}

Json accuracy(const Json& item) {
  const auto& counts = item.at("numbers");
  const double share = lab::global_accuracy(counts.at(0), counts.at(1));
  return {{"numbers", Json::array({share})}, {"same_memory", true}};
}

Json one(const std::string& call, const Json& item) {
  if (call == "all_gather") return gather(item);
  if (call == "all_reduce_sum") return reduce(item, lab::all_reduce_sum);
  if (call == "all_reduce_avg") return reduce(item, lab::all_reduce_avg);
  if (call == "global_accuracy") return accuracy(item);
  throw std::logic_error("no such call: " + call);
}

// An Error{invalid_argument} is an answer; the rank goes on.
Json one_or_refused(const std::string& call, const Json& item) {
  try {
    return one(call, item);
  } catch (const dist::Todo&) {
    throw;
  } catch (const dist::Error& error) {
    if (error.code() != dist::Errc::invalid_argument) throw;
    return {{"refused", error.what()}};
  }
}

// Messages of the program around a call, between ranks that the call does not connect.
class Beside {
 public:
  explicit Beside(const Json& task) : from_(task.value("from", std::vector<int>{})) {
    for (const int to : task.value("to", std::vector<int>{})) leaving_.push_back(dist::isend(ours_, to));
    if (!leaving_.empty() || !from_.empty()) dist::sim::compute(1e-4);  // meanwhile all have been sent
  }
  void receive() {
    for (const int from : from_) dist::recv(theirs_, from);
    for (dist::Work& work : leaving_) work.wait();
  }

 private:
  std::vector<int> from_;
  Tensor ours_ = dist::full({1009}, untouched), theirs_ = dist::empty({1009});
  std::vector<dist::Work> leaving_;
};

Json handle(const Json& task) {
  dist::init_process_group();
  Beside beside(task);
  const bool may_refuse = task.at("may_refuse");
  Json replies = Json::array();
  for (const auto& item : task.at("items"))
    replies.push_back(may_refuse ? one_or_refused(task.at("call"), item) : one(task.at("call"), item));
  beside.receive();
  return replies;
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
