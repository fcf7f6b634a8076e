// The process of one rank in the grading of lab 19: a rank of the grader's simulation. It plays the
// arithmetic, which takes the task's time, says what was wrong with its arguments, and reports the results.
#include "judge/runner.h"

#include <cmath>
#include <functional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "model.h"
#include "tensor_parallel.h"

namespace {

using dist::Tensor, judge::Json, lab19::Matrix, lab19::Numbers, lab19::Part;

Tensor tensor_of(const Matrix& matrix, dist::DType dtype) {
  if (matrix.at.empty()) return dist::empty({matrix.rows, matrix.columns}, dtype);
  return dist::tensor<double>(std::span<const double>(matrix.at))
      .to(dtype)
      .view({matrix.rows, matrix.columns});
}
// A bias is a vector.
Tensor vector_of(const Matrix& matrix, dist::DType dtype) {
  return tensor_of(matrix, dtype).view({matrix.columns});
}
Json said(const Tensor& t) {
  if (!t.is_defined()) return nullptr;
  Numbers values = t.to_vector<double>();
  for (double& value : values)
    if (!std::isfinite(value)) value = 1e300;  // JSON has no infinity
  return {{"shape", t.shape()}, {"dtype", std::string(dist::name(t.dtype()))}, {"values", values}};
}
Json said(const lab::Linear& layer) {
  return {said(layer.weight), said(layer.bias), said(layer.weight_gradient), said(layer.bias_gradient)};
}

// `before`: its gradients, as an earlier backward left them.
lab::Linear linear_of(const lab19::Layer& layer, const lab19::Layer& before, dist::DType dtype) {
  return {tensor_of(layer.weight, dtype), vector_of(layer.bias, dtype), tensor_of(before.weight, dtype),
          vector_of(before.bias, dtype)};
}

// What a task has in common: the group of this rank, the arithmetic, and the times that it takes.
class Play {
 public:
  explicit Play(const Json& task)
      : task_(task), dtype_(task.at("dtype") == "f32" ? dist::DType::f32 : dist::DType::f64) {
    for (const std::vector<int> ranks : task.at("groups")) {
      const auto made = dist::new_group(ranks);
      if (made.is_member()) group_ = made;
    }
    if (task.contains("sizes")) {
      const auto& sizes = task.at("sizes");
      sizes_ = {sizes.at(0), sizes.at(1), sizes.at(2), sizes.at(3), sizes.at(4)};
    }
  }

  Json answer(const std::string& call) {
    if (call == "cut") return cut();
    if (call == "column" || call == "row") return layer(call == "row");
    if (call == "pair") return pair();
    if (call == "keep") return keep();
    if (call == "attention") return attention();
    if (call == "embedding") return embedding();
    if (call == "loss") return loss();
    return sum();
  }
  const std::string& complaint() const { return complaint_; }

 private:
  int rank() const { return group_.rank(); }
  int n() const { return group_.size(); }

  // ----------------------------------------------------------------------------------- the arithmetic
  lab::Context context() {
    return {
        group_,
        [this](const Tensor& x, const Tensor& weight, const Tensor& bias) {
          return multiply(x, weight, bias);
        },
        [this](const Tensor& grad, const Tensor& weight) { return input_gradient(grad, weight); },
        [this](lab::Linear& layer, const Tensor& x, const Tensor& grad) { add_gradients(layer, x, grad); }};
  }
  lab::Middle middle(std::int64_t heads) {
    const bool attends = sizes_.is_attention;
    return {[this, heads, attends](const Tensor& hidden) {
              take("middle");
              const Matrix h = matrix_of("middle.forward", hidden, -1, hidden_columns());
              return tensor_of(lab19::middle_forward(h, heads, attends), dtype_);
            },
            [this, heads, attends](const Tensor& hidden, const Tensor& grad) {
              take("middle");
              const Matrix h = matrix_of("middle.backward (hidden)", hidden, -1, hidden_columns());
              const Matrix g = matrix_of("middle.backward (grad)", grad, h.rows,
                                         attends ? hidden_columns() / 3 : hidden_columns());
              return tensor_of(lab19::middle_backward(h, g, heads, attends), dtype_);
            }};
  }
  // Columns between the layers on this rank, before the middle.
  std::int64_t hidden_columns() const {
    return lab19::inner_part(sizes_, rank(), n()).count * (sizes_.is_attention ? 3 : 1);
  }
  std::int64_t heads() const { return lab19::right_part(sizes_.heads, rank(), n()).count; }

  Tensor multiply(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    take("multiply");
    const Matrix w = matrix_of("multiply (weight)", weight, -1, -1);
    const Matrix input = matrix_of("multiply (x)", x, sizes_.t, w.columns);
    Matrix y = input * w.transposed();
    if (bias.is_defined()) y = lab19::plus(y, row_of("multiply (bias)", bias, w.rows));
    return tensor_of(y, dtype_);
  }
  Tensor input_gradient(const Tensor& grad, const Tensor& weight) {
    take("input_gradient");
    const Matrix w = matrix_of("input_gradient (weight)", weight, -1, -1);
    return tensor_of(matrix_of("input_gradient (grad)", grad, -1, w.rows) * w, dtype_);
  }
  void add_gradients(lab::Linear& layer, const Tensor& x, const Tensor& grad) {
    take("add_gradients");
    const Matrix w = matrix_of("add_gradients (layer.weight_gradient)", layer.weight_gradient, -1, -1);
    // The one that has not all tokens is wrong; if neither has, the gradients show it.
    const bool has_all = grad.is_defined() && grad.dim() == 2 && grad.size(0) == sizes_.t;
    const Matrix input = matrix_of("add_gradients (x)", x, has_all ? sizes_.t : -1, w.columns);
    const Matrix g = matrix_of("add_gradients (grad)", grad, input.rows, w.rows);
    if (!complaint_.empty()) return;
    layer.weight_gradient.add_(tensor_of(g.transposed() * input, dtype_));
    layer.bias_gradient.add_(vector_of(g.sum_of_rows(), dtype_));
  }
  void take(const char* what) {
    if (task_.contains("seconds")) dist::sim::compute(task_.at("seconds").at(what));
  }

  // The elements of a tensor that the graded code passes; zeros if its form is wrong. -1: any size.
  Matrix matrix_of(const char* what, const Tensor& t, std::int64_t rows, std::int64_t columns) {
    const bool is_matrix = t.is_defined() && t.dim() == 2 && t.dtype() == dtype_;
    if (is_matrix && (rows < 0 || t.size(0) == rows) && (columns < 0 || t.size(1) == columns))
      return {t.size(0), t.size(1), t.to_vector<double>()};
    const auto size = [](std::int64_t of) { return of < 0 ? std::string("any") : fmt::format("{}", of); };
    complain(fmt::format("{} was given {}; it must be {{{}, {}}} {}", what, form_of(t), size(rows),
                         size(columns), dist::name(dtype_)));
    return {rows < 0 ? sizes_.t : rows, columns < 0 ? 1 : columns};
  }
  Matrix row_of(const char* what, const Tensor& t, std::int64_t count) {
    if (t.dim() == 1 && t.dtype() == dtype_ && t.numel() == count) return {1, count, t.to_vector<double>()};
    complain(
        fmt::format("{} was given {}; it must be {{{}}} {}", what, form_of(t), count, dist::name(dtype_)));
    return {1, count};
  }
  static std::string form_of(const Tensor& t) {
    if (!t.is_defined()) return "an undefined tensor";
    return fmt::format("{{{}}} {}", fmt::join(t.shape(), ", "), dist::name(t.dtype()));
  }
  void complain(const std::string& what) {
    if (complaint_.empty()) complaint_ = what;
  }
  // Runs the graded code, and compares afterwards what it must not change.
  Json keeping(const std::vector<std::pair<const char*, Tensor>>& arguments,
               const std::function<Tensor()>& run) {
    std::vector<Numbers> before;
    for (const auto& [name, tensor] : arguments) before.push_back(tensor.to_vector<double>());
    Json result = said(run());
    for (std::size_t i = 0; i < before.size(); ++i)
      if (arguments[i].second.to_vector<double>() != before[i])
        complain(fmt::format("the argument `{}` is const, and it was changed", arguments[i].first));
    return result;
  }

  // ----------------------------------------------------------------------------------------- the tasks
  Matrix told(const char* what) const { return lab19::matrix_from(task_.at(what)); }
  lab::Linear linear(const char* what, const char* before) const {
    return linear_of(lab19::layer_from(task_.at(what)), lab19::layer_from(task_.at(before)), dtype_);
  }
  lab::Pair told_pair() const { return {linear("first", "first_before"), linear("second", "second_before")}; }

  // A part that shares the memory of the whole layer shows this.
  static void overwrite(const lab::Linear& whole) {
    for (Tensor t : {whole.weight, whole.bias, whole.weight_gradient, whole.bias_gradient})
      t.fill_(lab19::overwritten);
  }
  Json cut() {
    const std::string kind = task_.at("kind");
    Json parts;
    std::vector<lab::Pair> kept;
    for (int i = 0; i < task_.at("layers").get<int>(); ++i) {
      if (kind == "heads") {
        const lab::Pair pair = told_pair();
        kept.push_back(lab::cut_heads(pair, sizes_.heads, group_));
        overwrite(pair.first);
        overwrite(pair.second);
        continue;
      }
      const auto& cut = kind == "row" ? lab::cut_row : lab::cut_column;
      const lab::Linear layer = linear("first", "first_before");
      kept.push_back({cut(layer, group_), {}});
      overwrite(layer);
    }
    return {said(kept.back().first), said(kept.back().second)};
  }

  Json layer(bool is_row) {
    auto layer = linear("first", "first_before");
    const Tensor own_x = tensor_of(told("x"), dtype_), own_grad = tensor_of(told("grad"), dtype_);
    Json reply = Json::object();
    if (runs("forward"))
      reply["y"] = keeping({{"x", own_x}, {"layer", layer.weight}, {"layer", layer.bias}}, [&] {
        return is_row ? lab::row_forward(layer, own_x, context())
                      : lab::column_forward(layer, own_x, context());
      });
    if (runs("backward"))
      reply["of_x"] = keeping({{"x", own_x}, {"grad", own_grad}}, [&] {
        return is_row ? lab::row_backward(layer, own_x, own_grad, context())
                      : lab::column_backward(layer, own_x, own_grad, context());
      });
    reply["first"] = said(layer);
    return reply;
  }

  bool runs(const char* phase) const { return task_.at("phase") == "both" || task_.at("phase") == phase; }
  bool is_sequence() const { return task_.at("sequence"); }
  Json run_pair(lab::Pair pair, lab::Kept kept) {
    const auto context = this->context();
    const auto between = middle(heads());
    Json reply = Json::object();
    if (runs("forward")) {
      const auto& forward = is_sequence() ? lab::sequence_forward : lab::pair_forward;
      const Tensor own = tensor_of(told("x"), dtype_);
      reply["y"] = keeping({{"x", own},
                            {"pair", pair.first.weight},
                            {"pair", pair.first.bias},
                            {"pair", pair.second.weight},
                            {"pair", pair.second.bias}},
                           [&] { return forward(pair, own, between, context, kept); });
    }
    if (runs("backward")) {
      const auto& backward = is_sequence() ? lab::sequence_backward : lab::pair_backward;
      const Tensor own = tensor_of(told("grad"), dtype_);
      reply["of_x"] = keeping({{"grad", own}}, [&] { return backward(pair, kept, own, between, context); });
    }
    reply["first"] = said(pair.first);
    reply["second"] = said(pair.second);
    return reply;
  }

  Json pair() {
    if (task_.at("phase") != "backward") return run_pair(told_pair(), {});
    return run_pair(
        told_pair(),  // and what forward must have kept
        {tensor_of(told("x"), dtype_), tensor_of(told("hidden"), dtype_), tensor_of(told("inner"), dtype_)});
  }

  // Several forwards whose backwards have not run.
  Json keep() {
    const lab::Pair pair = told_pair();
    const auto context = this->context();
    const auto between = middle(heads());
    std::vector<lab::Kept> kept(task_.at("pairs").get<std::size_t>());
    for (lab::Kept& one : kept) {
      lab::sequence_forward(pair, tensor_of(told("x"), dtype_), between, context, one);
    }
    return Json::object();
  }

  // The graded code cuts the weights. The gradients are those of an earlier backward.
  Json attention() {
    lab::Pair pair = lab::cut_heads(told_pair(), sizes_.heads, group_);
    const auto begin = [this](lab::Linear& layer, const char* before) {
      const auto gradients = lab19::layer_from(task_.at(before));
      layer.weight_gradient = tensor_of(gradients.weight, dtype_);
      layer.bias_gradient = vector_of(gradients.bias, dtype_);
    };
    begin(pair.first, "first_own_before");
    begin(pair.second, "second_own_before");
    return run_pair(pair, {});
  }

  Json embedding() {
    const std::vector<std::int64_t> tokens = task_.at("tokens");
    const Part part = lab19::right_part(task_.at("vocabulary"), rank(), n());
    const Tensor table = tensor_of(told("table"), dtype_);
    const lab::Range rows{part.first, part.count};
    Json reply = Json::object();
    if (runs("forward"))
      reply["y"] =
          keeping({{"table", table}}, [&] { return lab::embedding_forward(table, rows, tokens, group_); });
    if (runs("backward")) {
      Tensor gradient = dist::full(table.shape(), 1, dtype_);
      const Tensor grad = tensor_of(told("grad"), dtype_);
      keeping({{"grad", grad}}, [&] {
        lab::embedding_backward(gradient, rows, tokens, grad);
        return Tensor{};
      });
      reply["gradient"] = said(gradient);
    }
    return reply;
  }

  Json loss() {
    const Part part = lab19::right_part(task_.at("vocabulary"), rank(), n());
    const Tensor own = tensor_of(told("logits"), dtype_);
    lab::Loss loss;
    keeping({{"logits", own}}, [&] {
      loss = lab::vocabulary_loss(own, {part.first, part.count}, task_.at("targets"), group_);
      return Tensor{};
    });
    // As text: JSON has no infinity.
    std::vector<std::string> gradient;
    if (loss.gradient.is_defined())
      for (const double element : loss.gradient.to_vector<double>())
        gradient.push_back(fmt::format("{}", element));
    return {{"mean", fmt::format("{}", loss.mean)},
            {"shape", loss.gradient.is_defined() ? Json(loss.gradient.shape()) : Json(nullptr)},
            {"gradient", gradient}};
  }

  Json sum() {
    std::vector<Tensor> gradients;
    std::vector<dist::Shape> shapes, matrices;
    for (const auto& one : task_.at("gradients")) {
      const Matrix summand = lab19::matrix_from(one);
      const std::int64_t rows = summand.rows, columns = summand.columns;
      matrices.push_back({rows, columns});
      shapes.push_back(shapes.size() % 3 == 0   ? dist::Shape{rows * columns}
                       : shapes.size() % 3 == 1 ? matrices.back()
                                                : dist::Shape{1, rows, columns});
      gradients.push_back(tensor_of(summand, dtype_).view(shapes.back()));
    }
    lab::sum_gradients(gradients, group_);
    if (gradients.size() != shapes.size())
      complain(fmt::format("sum_gradients has left {} of {} gradients", gradients.size(), shapes.size()));
    Json reply = Json::array();
    for (std::size_t i = 0; complaint_.empty() && i < shapes.size(); ++i) {
      if (!gradients[i].is_defined() || gradients[i].shape() != shapes[i])
        complain(fmt::format("sum_gradients has changed the shape of gradient {}, which was {{{}}}", i,
                             fmt::join(shapes[i], ", ")));
      else
        reply.push_back(said(gradients[i].view(matrices[i])));
    }
    return reply;
  }

  const Json task_;
  const dist::DType dtype_;
  dist::ProcessGroup group_;
  lab19::Sizes sizes_;
  std::string complaint_;
};

// `before`: other questions of the same kind, which the process answers first, and which it must not
// remember.
Json handle(const Json& task) {
  dist::init_process_group();
  for (const auto& before : task.value("before", Json::array())) Play(before).answer(before.at("call"));
  Play play(task);
  Json reply = play.answer(task.at("call"));
  return {{"reply", reply}, {"complaint", play.complaint()}};
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
