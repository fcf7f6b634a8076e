// Lab 19, the demonstration: a layer in parts, the pair, what it sends and when, and what it takes in memory.
//   ./distlab run 19
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "drawing/ascii.h"
#include "story.h"
#include "tensor_parallel.h"

namespace {

using dist::DType, dist::Shape, dist::Tensor;
using story::say;

// Seconds that a multiplication takes on one rank with the whole weight.
double whole_s = 0;

// out (i, k) += sum over j of a(i, j) * b(j, k), where a and b may be transposed.
Tensor product(const Tensor& a, bool a_is_transposed, const Tensor& b, bool b_is_transposed) {
  const std::int64_t rows = a.size(a_is_transposed ? 1 : 0), inner = a.size(a_is_transposed ? 0 : 1),
                     columns = b.size(b_is_transposed ? 0 : 1);
  Tensor out = dist::zeros({rows, columns}, DType::f64);
  const auto at = [](const Tensor& t, std::int64_t i, std::int64_t k, bool is_transposed) {
    if (is_transposed) std::swap(i, k);
    return t.data<double>()[static_cast<std::size_t>(i * t.size(1) + k)];
  };
  auto elements = out.data<double>();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < inner; ++j)
      for (std::int64_t k = 0; k < columns; ++k)
        elements[static_cast<std::size_t>(i * columns + k)] +=
            at(a, i, j, a_is_transposed) * at(b, j, k, b_is_transposed);
  return out;
}

lab::Context context_of(const dist::ProcessGroup& group) {
  const double seconds = whole_s / group.size();
  return {group,
          [seconds](const Tensor& x, const Tensor& weight, const Tensor& bias) {
            dist::sim::compute(seconds);
            Tensor y = product(x, false, weight, true);
            if (bias.is_defined())
              for (std::int64_t i = 0; i < y.size(0); ++i) y[i].add_(bias);
            return y;
          },
          [seconds](const Tensor& grad, const Tensor& weight) {
            dist::sim::compute(seconds);
            return product(grad, false, weight, false);
          },
          [seconds](lab::Linear& layer, const Tensor& x, const Tensor& grad) {
            dist::sim::compute(seconds);
            layer.weight_gradient.add_(product(grad, true, x, false));
            for (std::int64_t i = 0; i < grad.size(0); ++i) layer.bias_gradient.add_(grad[i]);
          }};
}

// Squares each element.
const lab::Middle square{[](const Tensor& hidden) { return hidden * hidden; },
                         [](const Tensor& hidden, const Tensor& grad) { return hidden * grad * 2.0; }};

Tensor wave(Shape shape, double from) {
  Tensor t = dist::empty(std::move(shape), DType::f64);
  auto elements = t.data<double>();
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = std::sin(from + static_cast<double>(i));
  return t;
}
lab::Linear layer_of(std::int64_t outputs, std::int64_t inputs, double from) {
  return {wave({outputs, inputs}, from), wave({outputs}, from), {}, {}};
}

struct Sizes {
  std::int64_t tokens = 4, width = 6, inner = 10;
};
lab::Pair pair_of(const Sizes& sizes, const dist::ProcessGroup& group) {
  return {lab::cut_column(layer_of(sizes.inner, sizes.width, 1), group),
          lab::cut_row(layer_of(sizes.width, sizes.inner, 2), group)};
}

dist::sim::Report simulate(int ranks, const std::function<void(const lab::Context&)>& program,
                           bool trace = false) {
  return story::simulate(
      ranks, "10gbe", [&] { program(context_of(dist::default_group())); }, trace);
}

std::string text_of(const Tensor& matrix) {
  std::vector<std::string> rows;
  for (std::int64_t i = 0; i < matrix.size(0); ++i)
    rows.push_back(fmt::format("{{{}}}", fmt::join(matrix[i].to_vector<int>(), ", ")));
  return fmt::format("{{{}}}", fmt::join(rows, ", "));
}

void show_parts() {
  std::vector<std::string> column(2), row(2);
  simulate(2, [&](const lab::Context& context) {
    const auto rank = static_cast<std::size_t>(context.group.rank());
    const auto whole = [](const Shape& shape) {
      return (dist::arange(6, DType::f64) + dist::ones({6}, DType::f64)).view(shape);
    };
    const Tensor bias = dist::zeros({3}, DType::f64);
    column[rank] = text_of(lab::cut_column({whole({3, 2}), bias, {}, {}}, context.group).weight);
    row[rank] = text_of(lab::cut_row({whole({2, 3}), bias.narrow(0, 2), {}, {}}, context.group).weight);
  });
  const auto line = [](const char* what, const std::vector<std::string>& parts) {
    say(fmt::format("   {:<50} rank 0 {}, rank 1 {}", what, parts[0], parts[1]));
  };
  line("column-parallel, weight {{1, 2}, {3, 4}, {5, 6}}:", column);
  line("row-parallel, weight {{1, 2, 3}, {4, 5, 6}}:", row);
}

struct Result {
  Tensor y, of_x;
};
Result run_pair(int ranks) {
  Result result;
  simulate(ranks, [&](const lab::Context& context) {
    const Sizes sizes;
    lab::Pair pair = pair_of(sizes, context.group);
    lab::Kept kept;
    const Tensor y = lab::pair_forward(pair, wave({sizes.tokens, sizes.width}, 3), square, context, kept);
    const Tensor of_x = lab::pair_backward(pair, kept, wave({sizes.tokens, sizes.width}, 4), square, context);
    if (context.group.rank() + 1 == ranks) result = {y.clone(), of_x.clone()};
  });
  return result;
}

double distance(const Tensor& a, const Tensor& b) {
  return std::sqrt(dist::sum((a - b) * (a - b)) / dist::sum(b * b));
}

void show_equality() {
  const Result one = run_pair(1);
  for (const int ranks : {2, 3, 4}) {
    const Result parts = run_pair(ranks);
    const auto near = [](double distance) {
      return distance < 1e-12 ? "as on one rank" : fmt::format("differs by {:.2g}", distance);
    };
    say(fmt::format("   {} ranks: y {}, the gradient of x {}", ranks, near(distance(parts.y, one.y)),
                    near(distance(parts.of_x, one.of_x))));
  }
}

const Sizes large{64, 128, 64};

void forward_and_backward(const lab::Context& context, bool is_sequence) {
  lab::Pair pair = pair_of(large, context.group);
  lab::Kept kept;
  const std::int64_t tokens = is_sequence ? large.tokens / context.group.size() : large.tokens;
  const Tensor x = wave({tokens, large.width}, 3);
  if (is_sequence) {
    lab::sequence_forward(pair, x, square, context, kept);
    lab::sequence_backward(pair, kept, x, square, context);
  } else {
    lab::pair_forward(pair, x, square, context, kept);
    lab::pair_backward(pair, kept, x, square, context);
  }
}

void picture() {
  whole_s = 200e-6;
  say(dist::trace::to_ascii(
      simulate(
          2, [](const lab::Context& context) { forward_and_backward(context, false); }, true)
          .trace));
  whole_s = 0;
}

void show_loss() {
  std::vector<std::string> lines(2);
  simulate(2, [&](const lab::Context& context) {
    const auto rank = static_cast<std::size_t>(context.group.rank());
    const lab::Loss loss = lab::vocabulary_loss(dist::zeros({1, 2}, DType::f64),
                                                {2 * context.group.rank(), 2}, {3}, context.group);
    lines[rank] = fmt::format("   rank {}: loss {:.4f}, gradient of its logits {}", rank, loss.mean,
                              loss.gradient.str());
  });
  for (const std::string& line : lines) say(line);
}

void show_costs() {
  say("   ranks                  weights   sent per rank   kept for backward      time   of it computing");
  for (const bool is_sequence : {false, true})
    for (const int ranks : {1, 2, 4}) {
      if (is_sequence && ranks == 1) continue;
      whole_s = 400e-6;
      const auto report =
          simulate(ranks, [&](const lab::Context& context) { forward_and_backward(context, is_sequence); });
      whole_s = 0;
      const auto kib = [](std::int64_t elements) { return fmt::format("{} KiB", elements * 8 / 1024); };
      const std::int64_t x = large.tokens * large.width, inner = 2 * large.tokens * large.inner / ranks;
      say(fmt::format("   {} {:<17} {:>9} {:>15} {:>19} {:>9} {:>17}", ranks,
                      is_sequence ? "sequence parallel" : "", kib(2 * large.width * large.inner / ranks),
                      kib(static_cast<std::int64_t>(report.max_bytes_sent() / 8)),
                      kib((is_sequence ? x / ranks : x) + inner),
                      fmt::format("{:.2f} ms", 1e3 * report.virtual_time_s),
                      fmt::format("{:.2f} ms", 6 * 0.4 / ranks)));
    }
}

void story_of_the_lab() {
  say("1  Two ways to cut a weight {outputs, inputs}, two ranks");
  show_parts();
  say("\n2  A pair of layers, 4 tokens, width 6, 10 columns inside");
  show_equality();
  say("\n3  A pair forward and backward on two ranks; every multiplication takes 100 us");
  picture();
  say("4  Four logits that are equal, two on each rank; the target is column 3");
  show_loss();
  say("\n5  A pair, 64 tokens, width 128, 64 columns inside, on 10 Gb/s Ethernet");
  show_costs();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, story_of_the_lab); }
