// The process of one rank in the grading of lab 14: a rank of the grader's simulation that calls the graded
// functions as the task says. It returns what the caller sees in its own memory.
#include "judge/runner.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dist/core/fail.h"
#include "dist/dist.h"
#include "dist/nn/cross_entropy.h"

#include "data_parallel.h"
#include "model.h"
#include "support/golden_training.h"

namespace {

using dist::DType, dist::Tensor, judge::Json, lab14::Numbers;

// All elements, one tensor after another.
Numbers flat(const lab::Tensors& tensors) {
  Numbers all;
  for (const Tensor& t : tensors) {
    const auto its = t.to_vector<double>();
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

void write(lab::Tensors& tensors, const Numbers& numbers) {
  std::size_t at = 0;
  for (Tensor& t : tensors) {
    const auto count = static_cast<std::size_t>(t.numel());
    t.copy_(dist::tensor(std::span<const double>(numbers).subspan(at, count)).view(t.shape()));
    at += count;
  }
}

lab::Tensors tensors_of(const Json& task) {
  lab::Tensors tensors;
  const auto dtype = task.at("dtype") == "f32" ? DType::f32 : DType::f64;
  for (const auto& shape : task.at("shapes")) tensors.push_back(dist::zeros(shape.get<dist::Shape>(), dtype));
  return tensors;
}

// "numbers": all elements; null is NaN.
lab::Tensors filled(const Json& task) {
  auto tensors = tensors_of(task);
  Numbers numbers;
  for (const auto& number : task.at("numbers"))
    numbers.push_back(number.is_null() ? std::nan("") : number.get<double>());
  write(tensors, numbers);
  return tensors;
}

// What is in the memory that the caller gave, and whether the tensors still refer to it.
Json seen(const lab::Tensors& given, const lab::Tensors& now) {
  bool same_memory = given.size() == now.size();
  for (std::size_t i = 0; same_memory && i < given.size(); ++i)
    same_memory = now[i].is_defined() && given[i].raw() == now[i].raw() && given[i].shape() == now[i].shape();
  return {{"numbers", flat(given)}, {"same_memory", same_memory}};
}

Json one_call(const std::string& call, const Json& task) {
  auto tensors = filled(task);
  const auto given = tensors;
  if (call == "broadcast_weights") lab::broadcast_weights(tensors);
  if (call == "average_gradients") lab::average_gradients(tensors);
  if (call == "average_over_samples") lab::average_over_samples(tensors, task.at("samples"));
  return seen(given, tensors);
}

// This rank's part of each step's batch.
std::vector<std::vector<lab14::Sample>> batches_of(const Json& task) {
  std::vector<std::vector<lab14::Sample>> batches;
  for (const auto& batch : task.at("batches")) {
    batches.emplace_back();
    for (const auto& sample : batch) batches.back().push_back({sample.at(0), sample.at(1)});
  }
  return batches;
}

void take_step(lab14::Optimizer& optimizer, lab::Tensors& weights, const lab::Tensors& gradients) {
  auto numbers = flat(weights);
  optimizer.step(numbers, flat(gradients));
  write(weights, numbers);
}

// Whether nothing was ever written to this memory: it holds what the simulation fills new memory with.
bool is_unwritten(const Tensor& t) {
  const auto bytes = [](const Tensor& of) {
    return std::string_view(static_cast<const char*>(of.raw()), of.nbytes());
  };
  const Tensor fresh = dist::empty(t.shape(), t.dtype());
  const bool shows = bytes(fresh).find_first_not_of('\0') != std::string_view::npos;
  return shows && bytes(t) == bytes(fresh);
}

void check_step(int step, std::int64_t steps) {
  if (step >= 0 && step < steps) return;
  dist::fail(dist::Errc::invalid_argument,
             "compute() was called for step {}; the number of steps is {}, and the first one is step 0", step,
             steps);
}

Json training(const std::string& call, const Json& task) {
  auto weights = filled(task);
  const auto given = weights;
  const auto batches = batches_of(task);
  lab14::Optimizer optimizer(task.at("optimizer"), task.at("lr"));
  Json computed = Json::array();
  bool was_unwritten = false;
  const lab::Trainer trainer{
      .compute = [&](int step, const lab::Tensors& now, lab::Tensors& gradients) -> std::int64_t {
        check_step(step, std::ssize(batches));
        computed.push_back(step);
        const auto& samples = batches[static_cast<std::size_t>(step)];
        if (!samples.empty()) write(gradients, lab14::gradients_of(flat(now), samples));
        for (Tensor& t : gradients) {
          // Such memory may hold anything, also NaN. What the program has written stays as it is.
          if (!samples.empty() || !is_unwritten(t)) continue;
          t.fill_(std::nan(""));
          was_unwritten = true;
        }
        return std::ssize(samples);
      },
      .optimize = [&](lab::Tensors& now,
                      const lab::Tensors& gradients) { take_step(optimizer, now, gradients); }};
  const int steps = static_cast<int>(batches.size());
  if (call == "train")
    lab::train(weights, steps, trainer);
  else
    lab::train_with_server(weights, steps, trainer);
  auto result = seen(given, weights);
  result.update({{"computed", computed}, {"optimized", optimizer.steps()}, {"was_unwritten", was_unwritten}});
  return result;
}

// The perceptron of tests/golden/ddp_training.json on PyTorch's data; only rank 0 has the right first
// weights.
Json golden(const Json& task) {
  dist::test::GoldenRun run;
  run.model = "mlp";
  run.batch = task.at("batch");
  const auto model = dist::test::golden_model(run);
  const auto parameters = model->parameters();
  lab::Tensors weights;
  for (const auto* parameter : parameters) weights.push_back(parameter->value);
  if (dist::get_rank() != 0)
    for (Tensor& weight : weights) weight.zero_();
  lab14::Optimizer optimizer(task.at("optimizer"), task.at("lr"));
  dist::nn::CrossEntropyLoss loss;
  Json losses = Json::array();
  const lab::Trainer trainer{
      .compute = [&](int step, const lab::Tensors&, lab::Tensors& gradients) -> std::int64_t {
        check_step(step, task.at("steps"));
        const auto batch = dist::test::golden_batch(run, dist::get_rank(), step);
        losses.push_back(loss.forward(model->forward(batch.input), batch.targets).item());
        model->zero_grad();
        (void)model->backward(loss.backward());
        for (std::size_t i = 0; i < parameters.size(); ++i) gradients.at(i).copy_(parameters[i]->grad);
        return run.batch;
      },
      .optimize = [&](lab::Tensors& now,
                      const lab::Tensors& gradients) { take_step(optimizer, now, gradients); }};
  lab::train(weights, task.at("steps"), trainer);
  return losses;
}

Json answer(const Json& task) {
  const std::string call = task.at("call");
  if (call == "golden") return golden(task);
  return call.starts_with("train") ? training(call, task) : one_call(call, task);
}

// "before": other calls in the same program.
Json handle(const Json& task) {
  dist::init_process_group();
  if (task.contains("before"))
    for (const auto& other : task.at("before")) answer(other);
  return answer(task);
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
