// The process of one rank in the grading of lab 20: a rank of the grader's simulation. It plays the rank's
// stage, whose computations take the task's time, and reports what it was given and the gradients.
#include "judge/runner.h"

#include <cstring>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "model.h"
#include "pipeline_parallel.h"
#include "started.h"

namespace {

using dist::Tensor, judge::Json, lab20::Matrix, lab20::Numbers;

Tensor tensor_of(const Matrix& matrix) {
  return dist::tensor<double>(std::span<const double>(matrix.at))
      .view({static_cast<std::int64_t>(matrix.rows), static_cast<std::int64_t>(matrix.columns)});
}

Json as_json(const std::vector<lab::Action>& list) {
  Json actions = Json::array();
  for (const auto& [kind, j] : list) actions.push_back({kind == lab::Kind::forward ? "F" : "B", j});
  return actions;
}

Json cut(const Json& one) { return lab::cut(one.at("costs"), one.at("stages")); }

Json schedule(const Json& one) {
  const auto& make = one.at("kind") == "gpipe" ? lab::gpipe : lab::one_f_one_b;
  return as_json(make(one.at("rank"), one.at("ranks"), one.at("micro_batches")));
}

Matrix matrix(std::size_t rows, std::size_t columns, const Json& numbers) { return {rows, columns, numbers}; }

// One step, with the numbers of this rank's task. Forward keeps the tensor that it is given, as layers do.
class Play {
 public:
  Play(const Json& task, std::size_t& computations)
      : samples_(task.at("samples")),
        forward_s_(task.at("forward_s")),
        backward_s_(task.at("backward_s")),
        weight_(matrix(task.at("inputs"), task.at("outputs"), task.at("weight"))),
        gradient_(weight_.at.size()),
        computations_(computations) {
    for (const auto& action : task.at("list"))
      list_.push_back({action.at(0) == "F" ? lab::Kind::forward : lab::Kind::backward, action.at(1)});
    for (const auto& numbers : task.at("targets"))
      targets_.push_back(matrix(samples_.at(targets_.size()), weight_.columns, numbers));
    batch_.samples.assign(samples_.begin(), samples_.end());
    for (const auto& numbers : task.at("batch"))
      batch_.inputs.push_back(tensor_of(matrix(samples_.at(batch_.inputs.size()), weight_.rows, numbers)));
  }

  Json step() {
    lab::Stage stage;
    stage.inputs = static_cast<std::int64_t>(weight_.rows);
    stage.outputs = static_cast<std::int64_t>(weight_.columns);
    stage.forward = [this](int j, const Tensor& input) { return forward(j, input); };
    stage.backward = [this](int j, const Tensor& gradient) { return backward(j, gradient); };
    if (!targets_.empty()) stage.loss = [this](int j, const Tensor& output) { return loss(j, output); };
    const double loss = lab::step(list_, batch_, stage);
    return {{"loss", loss}, {"gradient", gradient_}, {"order", as_json(order_)}, {"complaint", complaint_}};
  }

 private:
  struct Kept {
    Tensor input;
    Matrix as_it_was;
  };

  Tensor forward(int j, const Tensor& input) {
    begin({lab::Kind::forward, j}, forward_s_);
    const Matrix x = matrix_of("the input of forward", j, input, weight_.rows);
    kept_[j] = {input, x};
    return tensor_of(x * weight_);
  }

  Tensor backward(int j, const Tensor& gradient) {
    begin({lab::Kind::backward, j}, backward_s_);
    const Matrix of_output = matrix_of("the gradient for backward", j, gradient, weight_.columns);
    const auto kept = kept_.find(j);
    if (kept == kept_.end()) {
      complain(fmt::format("backward of micro-batch {} ran before its forward", j));
      return tensor_of(of_output * weight_.transposed());
    }
    const Matrix input = matrix_of("the input of forward", j, kept->second.input, weight_.rows);
    if (std::memcmp(input.at.data(), kept->second.as_it_was.at.data(), 8 * input.at.size()) != 0)
      complain(fmt::format("the input of forward of micro-batch {} was overwritten before its backward", j));
    kept_.erase(kept);
    const Matrix of_weight = input.transposed() * of_output;
    for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] += of_weight.at[i];
    return tensor_of(of_output * weight_.transposed());
  }

  void begin(const lab::Action& action, const std::vector<double>& seconds) {
    ++computations_;
    dist::sim::compute(seconds.at(static_cast<std::size_t>(action.micro_batch)));
    order_.push_back(action);
  }

  lab::Loss loss(int j, const Tensor& output) {
    Matrix gradient;
    const double sum = lab20::squared_loss(matrix_of("the output for loss", j, output, weight_.columns),
                                           targets_.at(static_cast<std::size_t>(j)), gradient);
    return {sum, tensor_of(gradient)};
  }

  // The elements of a tensor that the graded code passes; zeros if its form is wrong.
  Matrix matrix_of(const char* what, int j, const Tensor& t, std::size_t columns) {
    const std::size_t rows = samples_.at(static_cast<std::size_t>(j));
    const dist::Shape right{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)};
    if (t.is_defined() && t.dtype() == dist::DType::f64 && t.shape() == right)
      return {rows, columns, t.to_vector<double>()};
    complain(fmt::format(
        "{} of micro-batch {} must be f64 of shape [{}, {}]; it is {}", what, j, rows, columns,
        t.is_defined() ? Json(t.shape()).dump() + " " + std::string(dist::name(t.dtype())) : "undefined"));
    return {rows, columns, Numbers(rows * columns)};
  }
  void complain(const std::string& what) {
    if (complaint_.empty()) complaint_ = what;
  }

  const std::vector<std::size_t> samples_;
  const std::vector<double> forward_s_, backward_s_;  // [micro-batch]
  const Matrix weight_;
  Numbers gradient_;
  std::size_t& computations_;
  std::vector<Matrix> targets_;  // on the last rank
  std::vector<lab::Action> list_;
  lab::Batch batch_;
  std::map<int, Kept> kept_;
  std::vector<lab::Action> order_;
  std::string complaint_;
};

// Several steps of one process: a later one must not remember what an earlier one was given.
Json step(const Json& task) {
  dist::init_process_group();
  auto& backend = dist::default_group().state()->backend;
  lab20::Starts starts;
  backend = std::make_unique<lab20::Watched>(std::move(backend), starts);
  Json said{{"steps", Json::array()}};
  for (const auto& one : task.at("steps")) {
    starts = {};
    said["steps"].push_back(Play(one, starts.computations).step());
  }
  for (const auto& start : starts.all)
    said["starts"].push_back({start.computations, start.is_batch, start.sends, start.receives});
  return said;
}

Json for_each_case(const Json& task, Json (*answer)(const Json&)) {
  Json answers = Json::array();
  for (const auto& one : task.at("cases")) answers.push_back(judge::attempt([&] { return answer(one); }));
  return answers;
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) -> Json {
    const std::string call = task.at("call");
    if (call == "cut") return for_each_case(task, cut);
    if (call == "schedule") return for_each_case(task, schedule);
    if (call == "step") return judge::attempt([&] { return step(task); });
    throw std::logic_error("no such call: " + call);
  });
}
