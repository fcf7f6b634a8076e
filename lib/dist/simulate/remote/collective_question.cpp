#include "dist/simulate/remote/collective_question.h"

#include <bit>

#include "dist/core/fail.h"
#include "dist/simulate/remote/protocol.h"

namespace dist::sim {
namespace {

constexpr std::size_t longest_algorithm = 64;

std::vector<std::int64_t> counts_of(const TensorList& tensors) {
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < tensors.size(); ++i) counts.push_back(tensors[i].count);
  return counts;
}

void put_counts(wire::Writer& to, const std::vector<std::int64_t>& counts) {
  to.put(static_cast<std::uint32_t>(counts.size()));
  for (const std::int64_t count : counts) to.put(count);
}

// None, one, or one for each rank of the group.
std::vector<std::int64_t> get_counts(wire::Reader& from, int size) {
  const auto n = from.get<std::uint32_t>();
  if (n > 1 && std::cmp_not_equal(n, size)) fail(Errc::connection, "{} tensors for {} ranks", n, size);
  std::vector<std::int64_t> counts;
  for (std::uint32_t i = 0; i < n; ++i) {
    counts.push_back(from.get<std::int64_t>());
    constexpr auto most = std::int64_t{1} << 40;
    if (counts.back() < 0 || counts.back() > most)
      fail(Errc::connection, "a tensor of {} elements", counts.back());
  }
  return counts;
}

// How many tensors a rank has in this operation.
struct Numbers {
  std::size_t inputs, outputs;
};
Numbers numbers_of(const CollectiveQuestion& question, bool is_root) {
  const auto all = static_cast<std::size_t>(question.members.size());
  const std::size_t at_root = is_root ? all : 0;
  switch (question.kind) {
    case OpKind::broadcast:
    case OpKind::reduce:
    case OpKind::all_reduce: return {0, 1};
    case OpKind::scatter: return {at_root, 1};
    case OpKind::gather: return {1, at_root};
    case OpKind::all_gather: return {1, all};
    case OpKind::reduce_scatter: return {all, 1};
    case OpKind::all_to_all: return {all, all};
    case OpKind::barrier:
    case OpKind::send:
    case OpKind::recv: break;
  }
  return {0, 0};
}

}  // namespace

CollectiveQuestion question_of(const BackendContext& context, const Operation& operation) {
  return {.context = context.context,
          .members = context.members,
          .kind = operation.kind,
          .sequence = operation.sequence,
          .dtype = operation.dtype(),
          .op = operation.op,
          .root = operation.root,
          .algorithm = operation.algorithm,
          .timeout = operation.timeout,
          .where = operation.where,
          .inputs = counts_of(operation.inputs),
          .outputs = counts_of(operation.outputs)};
}

void put(wire::Writer& to, const CollectiveQuestion& question) {
  to.put(question.context);
  put(to, question.members.list());
  put_enum(to, question.kind);
  to.put(question.sequence);
  put_enum(to, question.dtype);
  put_enum(to, question.op.kind());
  to.put(std::bit_cast<std::uint64_t>(question.op.factor())).put(question.root);
  to.put(std::string_view(question.algorithm)).put(question.timeout.count());
  put(to, question.where);
  put_counts(to, question.inputs);
  put_counts(to, question.outputs);
}

CollectiveQuestion get_collective(wire::Reader& from, int rank, int world_size) {
  CollectiveQuestion question;
  question.context = from.get<std::uint32_t>();
  question.members = get_members(from, world_size);
  question.kind = get_enum(from, OpKind::barrier);
  question.sequence = from.get<std::uint64_t>();
  question.dtype = get_enum(from, DType::boolean);
  const auto kind = get_enum(from, ReduceOp::Kind::premul_sum);
  question.op = ReduceOp(kind, std::bit_cast<double>(from.get<std::uint64_t>()));
  question.root = from.get<int>();
  const std::string_view algorithm = from.text();
  question.timeout = Timeout(from.get<Timeout::rep>());
  question.where = get_place(from);
  const int size = question.members.size();
  question.inputs = get_counts(from, size);
  question.outputs = get_counts(from, size);
  const int me = question.members.group_rank_of(rank);
  if (me < 0) fail(Errc::connection, "rank {} is not in that group", rank);
  if (!is_collective(question.kind)) fail(Errc::connection, "{} is not a collective", name(question.kind));
  if (question.root < 0 || question.root >= size || algorithm.size() > longest_algorithm ||
      question.timeout < Timeout::zero())
    fail(Errc::connection, "a {} that cannot be", name(question.kind));
  question.algorithm = algorithm;
  const auto [inputs, outputs] = numbers_of(question, me == question.root);
  if (question.inputs.size() != inputs || question.outputs.size() != outputs)
    fail(Errc::connection, "a {} with {} inputs and {} outputs", name(question.kind), question.inputs.size(),
         question.outputs.size());
  return question;
}

}  // namespace dist::sim
