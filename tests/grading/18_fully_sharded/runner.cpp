// The process of one rank in the grading of lab 18: a rank of the grader's simulation. It plays the optimizer
// and the layers, says what they were given, and reports the results.
#include "judge/runner.h"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "fully_sharded.h"
#include "model.h"

namespace lab {

Rows rows_in_parts(std::int64_t rows, int rank, int n) {
  const auto [first, last] = lab18::right_rows(rows, rank, n);
  return {first, last - first};
}

}  // namespace lab

namespace {

using dist::Tensor, judge::Json, lab18::Numbers;

Tensor tensor_of(const Numbers& numbers) { return dist::tensor<double>(std::span<const double>(numbers)); }
Numbers numbers_of(const Tensor& t) {
  return t.is_defined() && t.dtype() == dist::DType::f64 ? t.to_vector<double>() : Numbers{};
}
Json shape_of(const Tensor& t) { return t.is_defined() ? Json(t.shape()) : Json(nullptr); }

Json rows_of(const Json& task) {
  Json all = Json::array();
  for (const auto& one : task.at("cases")) {
    const lab::Rows rows = lab::rows_of(one.at(0), one.at(1), one.at(2));
    all.push_back({rows.first, rows.count});
  }
  return all;
}

// SGD with momentum 1/2, which keeps a velocity for the rows that it is given.
Json zero_step(const Json& task) {
  const dist::Shape shape = task.at("shape");
  Tensor parameter = tensor_of(task.at("parameter")).view(shape), velocity;
  const Tensor of_layer = parameter;  // it shares the memory
  Json updates = Json::array();
  bool is_kept = true, are_views = true;
  const auto update = [&](Tensor& rows, const Tensor& gradient) {
    updates.push_back({{"rows", shape_of(rows)}, {"gradient", shape_of(gradient)}});
    const auto *const first = static_cast<const std::byte*>(of_layer.raw()), *const last =
                                                                                 first + of_layer.nbytes();
    const auto* const own = static_cast<const std::byte*>(rows.raw());
    are_views = are_views && own >= first && own < last;
    if (!velocity.is_defined() || velocity.shape() != rows.shape()) velocity = dist::zeros_like(rows);
    if (gradient.shape() != rows.shape()) return;
    velocity.mul_(0.5).add_(gradient);
    rows.add_(velocity, -1);
  };
  // Another parameter, which never changes, in turn with this one.
  const Tensor constant = dist::full({3, 2, 2}, 5, dist::DType::f64);
  Tensor other = constant.clone();
  for (const Numbers numbers : task.at("gradients")) {
    if (task.at("others")) lab::zero_step(other, dist::zeros_like(other), [](Tensor&, const Tensor&) {});
    const Tensor gradient = tensor_of(numbers).view(shape);
    lab::zero_step(parameter, gradient, update);
    is_kept = is_kept && numbers_of(gradient) == numbers;
  }
  return {{"parameter", numbers_of(parameter)},
          {"of_layer", numbers_of(of_layer)},
          {"are_views", are_views},
          {"shape", shape_of(parameter)},
          {"updates", updates},
          {"other_is_kept", numbers_of(other) == numbers_of(constant)},
          {"is_kept", is_kept}};
}

lab::Tensors whole(const Json& shapes, const Json& values) {
  lab::Tensors parameters;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    parameters.push_back(tensor_of(values.at(i)).view(shapes[i].get<dist::Shape>()));
  return parameters;
}

Json make_unit(const Json& task) {
  lab::make_unit({dist::ones({3, 2}, dist::DType::f64)});  // which has nothing to do with the next one
  auto parameters = whole(task.at("shapes"), task.at("values"));
  const auto unit = lab::make_unit(parameters);
  for (Tensor& parameter : parameters) parameter.fill_(-1);  // a unit has copies
  return {
      {"shapes", unit.shapes}, {"shard", numbers_of(unit.shard)}, {"gradient", numbers_of(unit.gradient)}};
}

// Units of this shape, which are kept, and whose parameters are not.
Json make_units(const Json& task) {
  std::vector<lab::Unit> kept;
  for (int i = 0; i < task.at("count"); ++i) {
    lab::Tensors parameters;
    for (const dist::Shape shape : task.at("shapes"))
      parameters.push_back(dist::zeros(shape, dist::DType::f64));
    kept.push_back(lab::make_unit(parameters));
  }
  return kept.size();
}

lab::Unit unit_of(const Json& shapes, const Numbers& shard, double gradient) {
  Tensor values = tensor_of(shard), gradients = dist::full(values.shape(), gradient, dist::DType::f64);
  return {shapes, values, gradients};
}

// Gathers a unit that comes before, and then two units of the same shapes, both in flight.
Json gather(const Json& task) {
  std::vector<lab::Unit> units;
  for (const char* shard : {"shard", "other_shard"})
    units.push_back(unit_of(task.at("shapes"), task.at(shard), 0));
  const auto before = unit_of(task.at("shapes_before"), task.at("shard_before"), 0);
  auto first = lab::start_gather(before);
  lab::finish_gather(before, first);
  std::vector<lab::Gather> gathers;
  for (const auto& unit : units) gathers.push_back(lab::start_gather(unit));
  dist::sim::compute(task.at("seconds"));
  Json reply = Json::array();
  for (std::size_t i = 0; i < units.size(); ++i) {
    Json values = Json::array(), shapes = Json::array();
    for (const Tensor& parameter : lab::finish_gather(units[i], gathers[i])) {
      values.push_back(numbers_of(parameter));
      shapes.push_back(shape_of(parameter));
    }
    reply.push_back({{"shapes", shapes}, {"values", values}, {"given_up", !gathers[i].shards.is_defined()}});
  }
  return reply;
}

// Two reductions of the same gradients, both in flight: of this unit, and of one whose gradient is 0.
Json reduce(const Json& task) {
  auto unit = unit_of(task.at("shapes"), task.at("shard"), task.at("before")),
       other = unit_of(task.at("shapes"), task.at("shard"), 0);
  const auto gradients = whole(task.at("shapes"), task.at("values"));
  auto others = whole(task.at("shapes"), task.at("values"));
  for (Tensor& gradient : others) gradient.mul_(3);
  auto reduction = lab::start_reduction(unit, gradients), second = lab::start_reduction(other, others);
  dist::sim::compute(task.at("seconds"));
  lab::finish_reduction(unit, reduction);
  lab::finish_reduction(other, second);
  return {{"gradient", numbers_of(unit.gradient)},
          {"other_gradient", numbers_of(other.gradient)},
          {"shard", numbers_of(unit.shard)},
          {"given_up", !reduction.shards.is_defined() && !reduction.mean.is_defined()}};
}

// The layers: unit u computes W x + b. They note which unit was computed, and what was wrong with its
// parameters.
class Layers {
 public:
  explicit Layers(const Json& task)
      : shapes_(task.at("shapes")),
        shards_(task.at("shards")),
        inputs_(task.at("inputs")),
        seconds_(task.at("seconds")),
        is_large_(task.at("large")) {}

  Tensor forward(std::size_t unit, const lab::Tensors& parameters, const Tensor& input) {
    dist::sim::compute(seconds_);
    order_.push_back(unit);
    Tensor output = dist::zeros({shapes_.at(unit)[0][0]}, dist::DType::f64);
    if (!are_whole("forward", unit, parameters) || !fits(input, shapes_[unit][0][1])) return output;
    output.copy_(parameters[1]);
    multiply(
        unit,
        [&](double w, std::size_t row, std::size_t column) {
          output.data<double>()[row] += w * input.data<double>()[column];
        },
        parameters[0]);
    return output;
  }

  lab::Gradients backward(std::size_t unit, const lab::Tensors& parameters, const Tensor& grad_output) {
    dist::sim::compute(seconds_);
    order_.push_back(unit);
    const dist::Shape shape = shapes_.at(unit)[0];
    lab::Gradients gradients{
        dist::zeros({shape[1]}, dist::DType::f64),
        {dist::zeros(shape, dist::DType::f64), dist::zeros({shape[0]}, dist::DType::f64)}};
    if (!are_whole("backward", unit, parameters) || !fits(grad_output, shape[0])) return gradients;
    gradients.parameters[1].copy_(grad_output);
    const auto grad = grad_output.data<double>();
    auto of_weight = gradients.parameters[0].data<double>();
    auto of_input = gradients.input.data<double>();
    multiply(
        unit,
        [&](double w, std::size_t row, std::size_t column) {
          const double input = inputs_.at(unit).at(column);
          of_weight[row * static_cast<std::size_t>(shape[1]) + column] = grad[row] * input;
          of_input[column] += w * grad[row];
        },
        parameters[0]);
    return gradients;
  }

  std::int64_t inputs() const { return shapes_.front()[0][1]; }
  // With gradients of an earlier backward.
  std::vector<lab::Unit> units(double gradient) const {
    std::vector<lab::Unit> all;
    for (std::size_t u = 0; u < shapes_.size(); ++u) all.push_back(unit_of(shapes_[u], shard(u), gradient));
    return all;
  }
  Json said() const { return {{"order", order_}, {"complaint", complaint_}}; }

 private:
  Numbers shard(std::size_t unit) const {
    if (!is_large_) return shards_.at(unit);
    const auto zero = [](std::size_t, std::int64_t) { return 0.0; };
    return lab18::right_shard(shapes_[unit], dist::get_rank(), dist::get_world_size(), zero);
  }
  template <class Visit>
  void multiply(std::size_t unit, const Visit& visit, const Tensor& weight) const {
    if (is_large_) return;  // the result is not asked for
    const auto rows = static_cast<std::size_t>(shapes_[unit][0][0]);
    const auto columns = static_cast<std::size_t>(shapes_[unit][0][1]);
    const auto w = weight.data<double>();
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column) visit(w[row * columns + column], row, column);
  }
  bool fits(const Tensor& t, std::int64_t count) {
    if (t.is_defined() && t.dtype() == dist::DType::f64 && t.numel() == count) return true;
    complain(fmt::format("unit {} was given a vector of shape {}; it must have {} elements", order_.back(),
                         shape_of(t).dump(), count));
    return false;
  }
  bool are_whole(const char* pass, std::size_t unit, const lab::Tensors& parameters) {
    Json shapes = Json::array();
    for (const Tensor& parameter : parameters) shapes.push_back(shape_of(parameter));
    if (shapes == Json(shapes_[unit])) return true;
    complain(fmt::format("{} of unit {} was given parameters of shapes {}; they must be {}", pass, unit,
                         shapes.dump(), Json(shapes_[unit]).dump()));
    return false;
  }
  void complain(const std::string& what) {
    if (complaint_.empty()) complaint_ = what;
  }

  const std::vector<std::vector<dist::Shape>> shapes_;
  const std::vector<Numbers> shards_, inputs_;  // [unit]: this rank's
  const double seconds_;
  const bool is_large_;
  std::vector<std::size_t> order_;
  std::string complaint_;
};

lab::Compute compute_by(Layers& layers) {
  return {[&](std::size_t unit, const lab::Tensors& parameters, const Tensor& input) {
            return layers.forward(unit, parameters, input);
          },
          [&](std::size_t unit, const lab::Tensors& parameters, const Tensor& grad_output) {
            return layers.backward(unit, parameters, grad_output);
          }};
}

Json pass(const std::string& call, const Json& task) {
  if (task.contains("another")) pass(call, task.at("another"));  // which has nothing to do with this one
  Layers layers(task);
  auto units = layers.units(task.at("before"));
  const auto compute = compute_by(layers);
  if (task.at("is_after_forward")) {
    Layers before(task);
    const auto& forward = call == "backward" ? lab::forward : lab::prefetching_forward;
    forward(units, dist::ones({before.inputs()}, dist::DType::f64), compute_by(before));
  }
  const Tensor given = tensor_of(task.at("vector"));
  Json values = Json::array();
  if (call == "forward") values.push_back(numbers_of(lab::forward(units, given, compute)));
  if (call == "prefetching_forward")
    values.push_back(numbers_of(lab::prefetching_forward(units, given, compute)));
  if (call == "backward") lab::backward(units, given, compute);
  if (call == "prefetching_backward") lab::prefetching_backward(units, given, compute);
  if (task.at("large")) return layers.said();  // only how much memory it takes is asked
  if (values.empty())
    for (const auto& unit : units) values.push_back(numbers_of(unit.gradient));
  Json said = layers.said();
  said["values"] = values;
  return said;
}

Json handle(const Json& task) {
  const std::string call = task.at("call");
  dist::init_process_group();
  if (call == "rows_of") return rows_of(task);
  if (call == "zero_step") return zero_step(task);
  if (call == "make_unit") return make_unit(task);
  if (call == "make_units") return make_units(task);
  if (call == "gather") return gather(task);
  if (call == "reduce") return reduce(task);
  return pass(call, task);
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
