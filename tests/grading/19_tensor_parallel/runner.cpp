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
lab::Pair pair_of(const lab19::TwoLayers& pair, const lab19::TwoLayers& before, dist::DType dtype) {
  return {linear_of(pair.first, before.first, dtype), linear_of(pair.second, before.second, dtype)};
}

// What a task has in common: the group of this rank, the arithmetic, and the times that it takes.
class Play {
 public:
  explicit Play(const Json& task)
      : task_(task),
        dtype_(task.at("dtype") == "f32" ? dist::DType::f32 : dist::DType::f64),
        seed_(task.at("seed")) {
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
    const Matrix input = matrix_of("multiply (x)", x, -1, w.columns);
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
    const Matrix input = matrix_of("add_gradients (x)", x, -1, w.columns);
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
  lab::Pair whole_pair() const {
    const auto whole = lab19::right_pair(seed_, sizes_);
    return pair_of(whole, lab19::gradients_before(seed_, whole), dtype_);
  }
  // This rank's part of the layers, or of the gradients.
  lab19::TwoLayers own_part(const lab19::TwoLayers& whole) const {
    return lab19::part_of_pair(whole, sizes_, rank(), n());
  }
  lab::Pair own_pair() const {
    const auto whole = lab19::right_pair(seed_, sizes_);
    return pair_of(own_part(whole), own_part(lab19::gradients_before(seed_, whole)), dtype_);
  }

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
        const lab::Pair pair = whole_pair();
        kept.push_back(lab::cut_heads(pair, sizes_.heads, group_));
        overwrite(pair.first);
        overwrite(pair.second);
        continue;
      }
      const auto whole = lab19::right_layer(seed_, true, task_.at("outputs"), task_.at("inputs"));
      const auto& cut = kind == "row" ? lab::cut_row : lab::cut_column;
      const lab::Linear layer = linear_of(whole, lab19::gradients_before(seed_, true, whole), dtype_);
      kept.push_back({cut(layer, group_), {}});
      overwrite(layer);
    }
    return {said(kept.back().first), said(kept.back().second)};
  }

  Json layer(bool is_row) {
    const auto whole = lab19::right_layer(seed_, true, task_.at("outputs"), task_.at("inputs"));
    const Part part = lab19::right_part(task_.at(is_row ? "inputs" : "outputs"), rank(), n());
    const Matrix x = lab19::numbers(seed_, lab19::input, sizes_.t, task_.at("inputs"));
    const Matrix grad = lab19::numbers(seed_, lab19::output_gradient, sizes_.t, task_.at("outputs"));
    const auto before = lab19::gradients_before(seed_, true, whole);
    const auto own = [&](const lab19::Layer& all) {
      return is_row ? all.row_part(part) : all.column_part(part);
    };
    auto layer = linear_of(own(whole), own(before), dtype_);
    const Tensor own_x = tensor_of(is_row ? x.columns_of(part) : x, dtype_);
    const Tensor own_grad = tensor_of(is_row ? grad : grad.columns_of(part), dtype_);
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
  // This rank's tokens in part 5, otherwise all.
  Tensor own_tokens(const Matrix& all) const {
    if (!is_sequence()) return tensor_of(all, dtype_);
    const std::int64_t count = sizes_.t / n();
    return tensor_of(all.rows_of({rank() * count, count}), dtype_);
  }

  // What forward must have kept.
  lab::Kept right_kept(const lab19::TwoLayers& own, const Matrix& x) {
    const Matrix hidden = own.first.forward(x);
    return {own_tokens(x), tensor_of(hidden, dtype_),
            tensor_of(lab19::middle_forward(hidden, heads(), sizes_.is_attention), dtype_)};
  }

  Json run_pair(lab::Pair pair, lab::Kept kept) {
    const Matrix x = lab19::numbers(seed_, lab19::input, sizes_.t, sizes_.width);
    const Matrix grad = lab19::numbers(seed_, lab19::output_gradient, sizes_.t, sizes_.width);
    const auto context = this->context();
    const auto between = middle(heads());
    Json reply = Json::object();
    if (runs("forward")) {
      const auto& forward = is_sequence() ? lab::sequence_forward : lab::pair_forward;
      const Tensor own = own_tokens(x);
      reply["y"] = keeping({{"x", own},
                            {"pair", pair.first.weight},
                            {"pair", pair.first.bias},
                            {"pair", pair.second.weight},
                            {"pair", pair.second.bias}},
                           [&] { return forward(pair, own, between, context, kept); });
    }
    if (runs("backward")) {
      const auto& backward = is_sequence() ? lab::sequence_backward : lab::pair_backward;
      const Tensor own = own_tokens(grad);
      reply["of_x"] = keeping({{"grad", own}}, [&] { return backward(pair, kept, own, between, context); });
    }
    reply["first"] = said(pair.first);
    reply["second"] = said(pair.second);
    return reply;
  }

  Json pair() {
    const Matrix x = lab19::numbers(seed_, lab19::input, sizes_.t, sizes_.width);
    return run_pair(own_pair(), task_.at("phase") == "backward"
                                    ? right_kept(own_part(lab19::right_pair(seed_, sizes_)), x)
                                    : lab::Kept{});
  }

  // Several forwards whose backwards have not run.
  Json keep() {
    const lab::Pair pair = own_pair();
    const auto context = this->context();
    const auto between = middle(heads());
    std::vector<lab::Kept> kept(task_.at("pairs").get<std::size_t>());
    for (lab::Kept& one : kept) {
      const Matrix x = lab19::numbers(seed_, lab19::input, sizes_.t, sizes_.width);
      lab::sequence_forward(pair, own_tokens(x), between, context, one);
    }
    return Json::object();
  }

  // The graded code cuts the weights. The gradients are those of an earlier backward.
  Json attention() {
    lab::Pair pair = lab::cut_heads(whole_pair(), sizes_.heads, group_);
    const lab::Pair own = own_pair();
    const auto begin = [](lab::Linear& layer, const lab::Linear& right) {
      layer.weight_gradient = right.weight_gradient;
      layer.bias_gradient = right.bias_gradient;
    };
    begin(pair.first, own.first);
    begin(pair.second, own.second);
    return run_pair(pair, {});
  }

  Json embedding() {
    const std::vector<std::int64_t> tokens = task_.at("tokens");
    const Part part = lab19::right_part(task_.at("vocabulary"), rank(), n());
    const Tensor table = tensor_of(
        lab19::numbers(seed_, lab19::table, task_.at("vocabulary"), sizes_.width).rows_of(part), dtype_);
    const lab::Range rows{part.first, part.count};
    Json reply = Json::object();
    if (runs("forward"))
      reply["y"] =
          keeping({{"table", table}}, [&] { return lab::embedding_forward(table, rows, tokens, group_); });
    if (runs("backward")) {
      Tensor gradient = dist::full(table.shape(), 1, dtype_);
      const Tensor grad =
          tensor_of(lab19::numbers(seed_, lab19::output_gradient, sizes_.t, sizes_.width), dtype_);
      keeping({{"grad", grad}}, [&] {
        lab::embedding_backward(gradient, rows, tokens, grad);
        return Tensor{};
      });
      reply["gradient"] = said(gradient);
    }
    return reply;
  }

  Json loss() {
    const Matrix logits{sizes_.t, task_.at("vocabulary"), task_.at("logits")};
    const Part part = lab19::right_part(logits.columns, rank(), n());
    const Tensor own = tensor_of(logits.columns_of(part), dtype_);
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
      const std::int64_t rows = one.at(0), columns = one.at(1);
      matrices.push_back({rows, columns});
      shapes.push_back(shapes.size() % 3 == 0   ? dist::Shape{rows * columns}
                       : shapes.size() % 3 == 1 ? matrices.back()
                                                : dist::Shape{1, rows, columns});
      Tensor summand = tensor_of({rows, columns, one.at(2)}, dtype_);
      gradients.push_back(summand.mul_(rank() + 1).view(shapes.back()));
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
  const int seed_;
  dist::ProcessGroup group_;
  lab19::Sizes sizes_;
  std::string complaint_;
};

Json handle(const Json& task) {
  dist::init_process_group();
  Play play(task);
  Json reply = play.answer(task.at("call"));
  return {{"reply", reply}, {"complaint", play.complaint()}};
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
