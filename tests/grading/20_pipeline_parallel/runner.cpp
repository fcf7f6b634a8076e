// The process of one rank in the grading of lab 20: a rank of the grader's simulation. It plays the rank's
// stage, whose computations take the task's time, and reports what it was given and the gradients.
#include "judge/runner.h"

#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "model.h"
#include "pipeline_parallel.h"

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

class Play {
 public:
  explicit Play(const Json& task)
      : seed_(task.at("seed")),
        widths_(task.at("widths")),
        samples_(task.at("samples")),
        forward_s_(task.at("forward_s")),
        backward_s_(task.at("backward_s")),
        rank_(static_cast<std::size_t>(dist::get_rank())),
        weight_(lab20::weight(seed_, rank_, widths_)),
        gradient_(weight_.at.size()) {}

  lab::Batch batch() const {
    lab::Batch batch;
    batch.samples.assign(samples_.begin(), samples_.end());
    for (std::size_t j = 0; rank_ == 0 && j < samples_.size(); ++j)
      batch.inputs.push_back(tensor_of(lab20::input(seed_, j, samples_[j], widths_[0])));
    return batch;
  }

  lab::Stage stage() {
    lab::Stage stage;
    stage.inputs = static_cast<std::int64_t>(weight_.rows);
    stage.outputs = static_cast<std::int64_t>(weight_.columns);
    stage.forward = [this](int j, const Tensor& input) { return forward(j, input); };
    stage.backward = [this](int j, const Tensor& gradient) { return backward(j, gradient); };
    if (rank_ + 2 == widths_.size())
      stage.loss = [this](int j, const Tensor& output) { return loss(j, output); };
    return stage;
  }

  Json said(double loss) const {
    return {{"loss", loss}, {"gradient", gradient_}, {"order", as_json(order_)}, {"complaint", complaint_}};
  }

 private:
  Tensor forward(int j, const Tensor& input) {
    dist::sim::compute(forward_s_.at(static_cast<std::size_t>(j)));
    order_.push_back({lab::Kind::forward, j});
    inputs_[j] = matrix_of("the input of forward", j, input, weight_.rows);
    return tensor_of(inputs_[j] * weight_);
  }

  Tensor backward(int j, const Tensor& gradient) {
    dist::sim::compute(backward_s_.at(static_cast<std::size_t>(j)));
    order_.push_back({lab::Kind::backward, j});
    const Matrix of_output = matrix_of("the gradient for backward", j, gradient, weight_.columns);
    if (!inputs_.contains(j)) complain(fmt::format("backward of micro-batch {} ran before its forward", j));
    const Matrix of_weight = inputs_.contains(j)
                                 ? inputs_[j].transposed() * of_output
                                 : Matrix{weight_.rows, weight_.columns, Numbers(weight_.at.size())};
    inputs_.erase(j);
    for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] += of_weight.at[i];
    return tensor_of(of_output * weight_.transposed());
  }

  lab::Loss loss(int j, const Tensor& output) {
    const auto rows = samples_.at(static_cast<std::size_t>(j));
    Matrix gradient;
    const double sum = lab20::squared_loss(
        matrix_of("the output for loss", j, output, weight_.columns),
        lab20::target(seed_, static_cast<std::size_t>(j), rows, weight_.columns), gradient);
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

  const std::uint64_t seed_;
  const std::vector<std::size_t> widths_, samples_;
  const std::vector<double> forward_s_, backward_s_;  // [micro-batch]
  const std::size_t rank_;
  const Matrix weight_;
  Numbers gradient_;
  std::map<int, Matrix> inputs_;
  std::vector<lab::Action> order_;
  std::string complaint_;
};

Json step(const Json& task) {
  dist::init_process_group();
  std::vector<lab::Action> list;
  for (const auto& action : task.at("list"))
    list.push_back({action.at(0) == "F" ? lab::Kind::forward : lab::Kind::backward, action.at(1)});
  // The first step shows nothing that the second one may remember.
  for (int steps = task.at("steps");; --steps) {
    Play play(task);
    const auto stage = play.stage();
    const double loss = lab::step(list, play.batch(), stage);
    if (steps == 1) return play.said(loss);
  }
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
