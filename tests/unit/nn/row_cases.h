// What a device computes for a transformer (row_ops.h) in awkward shapes, to compare devices and
// implementations.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dist/nn/checks.h"
#include "dist/nn/ops.h"

#include "unit/nn/gradient_check.h"

namespace dist::nn {

// What a case is computed on.
struct On {
  Device device = cpu;
  DType dtype = DType::f32;
  bool bf16_numbers = false;  // inputs that bf16 can represent, whatever the dtype is

  On(Device where, DType of = DType::f32, bool rounded = false)  // NOLINT: a device is one
      : device(where), dtype(of), bf16_numbers(rounded) {}
  DType statistics() const { return compute_dtype(dtype); }
};

struct RowCase {
  std::string name;
  bool is_by_element;  // so that every implementation gives the same bits
  std::function<std::vector<Tensor>(const Ops&, const On&)> run;
};

namespace row_cases {

inline Tensor given(Shape shape, double seed, const On& on, double factor = 1) {
  const Tensor numbers = scattered(std::move(shape), seed, DType::f32) * factor;
  return (on.bf16_numbers ? numbers.to(DType::bf16) : numbers).to(on.dtype).to(on.device);
}

// Each at least `begin` and below `end`, some of them more often than others.
inline Tensor indices(std::int64_t count, std::int64_t begin, std::int64_t end, Device device) {
  Tensor t = empty({count}, DType::i64);
  std::int64_t i = 0;
  for (std::int64_t& index : t.data<std::int64_t>()) {
    index = begin + (i * i * 7 + i / 3) % (end - begin);
    ++i;
  }
  return t.to(device);
}

inline RowCase norm(std::int64_t rows, std::int64_t width, bool layer) {
  return {fmt::format("{} of [{}, {}]", layer ? "LayerNorm" : "RMSNorm", rows, width), false,
          [=](const Ops& ops, const On& on) {
            const Tensor in = given({rows, width}, 1, on), out = empty({rows, width}, on.dtype, on.device),
                         grad_in = empty_like(in), invstd = empty({rows}, on.statistics(), on.device),
                         mean = layer ? empty_like(invstd) : Tensor(), grad_weight = given({width}, 4, on),
                         grad_bias = layer ? given({width}, 5, on) : Tensor();
            const RowNorm norm{given({width}, 2, on), layer ? given({width}, 3, on) : Tensor(), mean, invstd};
            ops.row_norm(out, in, norm, 1e-5);
            ops.row_norm_backward({grad_weight, grad_bias, grad_in}, given({rows, width}, 6, on), in, norm);
            std::vector<Tensor> results{out, invstd, grad_in, grad_weight};
            if (layer) results.insert(results.end(), {mean, grad_bias});
            return results;
          }};
}

inline RowCase activation(Activation which) {
  return {fmt::format("activation {}", static_cast<int>(which)), true, [=](const Ops& ops, const On& on) {
            const Tensor in = given({5, 257}, 1, on, 9), out = empty_like(in), grad = given({5, 257}, 2, on);
            ops.activate(out, in, which);
            ops.activate_backward(grad, grad, in, which);
            return std::vector{out, grad};
          }};
}

// Including indices below and above this slice of the table.
inline RowCase embedding(std::int64_t tokens, std::int64_t width) {
  return {fmt::format("embedding of {} tokens, width {}", tokens, width), true,
          [=](const Ops& ops, const On& on) {
            const Tensor table = given({11, width}, 1, on), out = empty({tokens, width}, on.dtype, on.device),
                         index = indices(tokens, 0, 17, on.device);
            ops.gather_rows(out, table, index, 3);
            ops.add_to_rows(table, given({tokens, width}, 2, on), index, 3);
            return std::vector{out, table};
          }};
}

inline RowCase dropout(std::int64_t width, double p) {
  return {fmt::format("dropout {} of width {}", p, width), true, [=](const Ops& ops, const On& on) {
            const Tensor in = given({2, 3, width}, 1, on);
            ops.dropout(in, in,
                        {.p = p,
                         .key = 5,
                         .rows = 3,
                         .width = width,
                         .all_rows = 7,
                         .all_width = width + 2,
                         .first_outer = 1,
                         .first_row = 2,
                         .first_column = 1});
            return std::vector{in};
          }};
}

// The last row is ignored.
inline RowCase cross_entropy(std::int64_t rows, std::int64_t width) {
  return {
      fmt::format("cross entropy of [{}, {}]", rows, width), false, [=](const Ops& ops, const On& on) {
        const Tensor logits = given({rows, width}, 1, on, 20), losses = empty({rows}, DType::f64, on.device);
        Tensor targets = indices(rows, 0, width, cpu);
        if (rows > 1) targets.data<std::int64_t>().back() = -100;
        ops.cross_entropy(logits, losses, targets.to(on.device), -100, full({}, 4, DType::f64, on.device));
        return std::vector{logits, losses};
      }};
}

inline RowCase rotation(std::int64_t time, std::int64_t size) {
  return {fmt::format("rotation of {} positions, size {}", time, size), true,
          [=](const Ops& ops, const On& on) {
            const Tensor rows = given({2, time, 3 * size + 1}, 1, on);
            ops.rotate({rows, 1, 2, size}, 3, 10000, 1);
            ops.rotate({rows, 2 * size + 1, 1, size}, 5, 10000, -1);
            return std::vector{rows};
          }};
}

struct AttentionCase {
  std::int64_t queries, keys, size, heads = 2, kv_heads = 1;
  bool causal = true;
  double dropout = 0;
  std::int64_t first_query = 0, first_key = 0;

  std::string name() const {
    return fmt::format(
        "attention: {} queries from {}, {} keys from {}, {} heads of {}, {} of keys, {}, dropout {}", queries,
        first_query, keys, first_key, heads, size, kv_heads, causal ? "causal" : "not causal", dropout);
  }
};

inline RowCase attention(const AttentionCase& c) {
  return {c.name(), false, [c](const Ops& ops, const On& on) {
            const std::int64_t batch = 2, width = c.heads * c.size, kv_width = 2 * c.kv_heads * c.size;
            const Tensor query = given({batch, c.queries, width + 1}, 1, on, 3),
                         kv = given({batch, c.keys, kv_width}, 2, on, 3);
            const Tensor out = empty({batch, c.queries, width}, on.dtype, on.device),
                         lse = empty({batch, c.heads, c.queries}, on.statistics(), on.device),
                         grad_out = given(out.shape(), 3, on), grad_query = given(query.shape(), 4, on),
                         grad_kv = given(kv.shape(), 5, on);
            AttentionOptions options;
            options.scale = 1 / std::sqrt(static_cast<double>(c.size));
            options.causal = c.causal;
            options.first_query = c.first_query, options.first_key = c.first_key;
            options.dropout = {.p = c.dropout,
                               .key = 9,
                               .rows = c.heads * c.queries,
                               .width = c.keys,
                               .all_rows = c.heads * c.queries,
                               .all_width = c.keys,
                               .first_outer = 1};
            const auto q_of = [&](const Tensor& t) { return Heads{t, 1, c.heads, c.size}; };
            const auto k_of = [&](const Tensor& t) { return Heads{t, 0, c.kv_heads, c.size}; };
            const auto v_of = [&](const Tensor& t) {
              return Heads{t, c.kv_heads * c.size, c.kv_heads, c.size};
            };
            const auto out_of = [&](const Tensor& t) { return Heads{t, 0, c.heads, c.size}; };
            ops.attention(out_of(out), lse, q_of(query), k_of(kv), v_of(kv), options);
            ops.attention_backward({q_of(grad_query), k_of(grad_kv), v_of(grad_kv)}, out_of(grad_out),
                                   out_of(out), lse, q_of(query), k_of(kv), v_of(kv), options);
            return std::vector{out, exp(lse), grad_query, grad_kv};  // exp: -inf is among them
          }};
}

// The first query of each head has seen no key before, the second sees none now, and the third has neither.
inline RowCase merge(std::int64_t queries, std::int64_t heads, std::int64_t size) {
  return {fmt::format("merge of attention: {} queries, {} heads of {}", queries, heads, size), true,
          [=](const Ops& ops, const On& on) {
            constexpr std::int64_t batch = 2, first = 2;
            const auto logarithms = [&](double seed, std::int64_t time,
                                        const std::vector<std::int64_t>& none) {
              Tensor lse = scattered({batch, heads, time}, seed, DType::f32) * 9;
              for (std::int64_t i = 0; i < batch * heads; ++i)
                for (const std::int64_t t : none)
                  if (t < time)
                    lse.data<float>()[static_cast<std::size_t>(i * time + t)] =
                        -std::numeric_limits<float>::infinity();
              return lse.to(on.statistics()).to(on.device);
            };
            const Tensor lse = logarithms(1, queries + 3, {first, first + 2}),
                         out = given({batch, queries + 3, heads * size}, 2, on).to(on.statistics());
            ops.merge_attention(out, lse, given({batch, queries, heads * size}, 3, on),
                                logarithms(4, queries, {1, 2}), first);
            return std::vector{out, exp(lse)};  // exp: -inf is among them
          }};
}

}  // namespace row_cases

inline std::vector<RowCase> all_row_cases() {
  using namespace row_cases;
  std::vector<RowCase> all;
  for (const std::int64_t width : {1, 33, 257}) {
    for (const std::int64_t rows : {1, 5, 130}) {
      all.push_back(norm(rows, width, true));
      all.push_back(norm(rows, width, false));
      all.push_back(cross_entropy(rows, width));
    }
    for (const std::int64_t tokens : {1, 5, 600}) all.push_back(embedding(tokens, width));
    for (const double p : {0.3, 1.0}) all.push_back(dropout(width, p));
  }
  for (const Activation which : {Activation::gelu, Activation::gelu_tanh, Activation::silu})
    all.push_back(activation(which));
  for (const auto& [queries, heads, size] : {std::array{1, 1, 1}, {3, 2, 4}, {70, 3, 33}, {0, 1, 4}})
    all.push_back(merge(queries, heads, size));
  for (const std::int64_t size : {4, 32, 64}) {
    for (const std::int64_t time : {1, 7, 65, 130})
      all.push_back(attention({.queries = time, .keys = time, .size = size}));
    all.push_back(rotation(7, size));
    all.push_back(attention({.queries = 7, .keys = 130, .size = size, .first_query = 60}));
  }
  // Among the last three are queries that see no key.
  for (const AttentionCase& c : {
           AttentionCase{.queries = 65, .keys = 65, .size = 80},
           {.queries = 33, .keys = 65, .size = 128, .heads = 1},
           {.queries = 65, .keys = 65, .size = 32, .heads = 6, .kv_heads = 2},
           {.queries = 65, .keys = 65, .size = 32, .dropout = 0.3},
           {.queries = 65, .keys = 130, .size = 32, .causal = false, .dropout = 0.3},
           {.queries = 65, .keys = 65, .size = 32, .first_key = 31},
           {.queries = 65, .keys = 65, .size = 32, .first_query = 3, .first_key = 45},
           {.queries = 7, .keys = 7, .size = 4, .first_key = 7},
       })
    all.push_back(attention(c));
  return all;
}

}  // namespace dist::nn
