#include "dist/backend/mpi/types.h"

#include <array>
#include <utility>

#include "dist/backend/mpi/library.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"

namespace dist::mpi {
namespace {

using Kind = ReduceOp::Kind;

constexpr std::size_t kinds = static_cast<std::size_t>(Kind::premul_sum) + 1, dtypes = all_dtypes.size();

// MPI passes its function neither the operation nor the library's dtype, so each pair has a function of its
// own.
template <std::size_t pair>
void reduce_pair(void* in, void* in_out, int* count, MPI_Datatype*) noexcept {
  constexpr auto kind = static_cast<Kind>(pair / dtypes);
  constexpr auto dtype = static_cast<DType>(pair % dtypes);
  reduce(TensorView{static_cast<std::byte*>(in_out), *count, dtype},
         TensorView{static_cast<std::byte*>(in), *count, dtype}, ReduceOp(kind));
}

template <std::size_t... pairs>
constexpr auto functions_of(std::index_sequence<pairs...>) {
  return std::array<MPI_User_function*, sizeof...(pairs)>{reduce_pair<pairs>...};
}

std::array<MPI_Op, kinds * dtypes> make_ops() {
  constexpr auto functions = functions_of(std::make_index_sequence<kinds * dtypes>());
  std::array<MPI_Op, kinds * dtypes> ops;
  const auto lock = turn();
  for (std::size_t i = 0; i < ops.size(); ++i)
    check(MPI_Op_create(functions[i], 1, &ops[i]), "MPI_Op_create");
  return ops;
}

MPI_Op our_op(Kind kind, DType dtype) {
  static const auto ops = make_ops();
  return ops[static_cast<std::size_t>(kind) * dtypes + static_cast<std::size_t>(dtype)];
}

// Open MPI's vector instructions add 8-bit numbers with saturation (its op/avx); in distlab they wrap around.
bool means_the_same(Kind kind, DType dtype) {
  if (kind == Kind::sum && (dtype == DType::u8 || dtype == DType::i8)) return false;
  if (dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::boolean) return false;
  return !is_floating_point(dtype) || kind == Kind::sum || kind == Kind::product;
}

}  // namespace

MPI_Datatype type_of(DType dtype) {
  switch (dtype) {
    case DType::u8:
    case DType::boolean: return MPI_UINT8_T;
    case DType::i8: return MPI_INT8_T;
    case DType::i32: return MPI_INT32_T;
    case DType::i64: return MPI_INT64_T;
    case DType::f16:
    case DType::bf16: return MPI_UINT16_T;
    case DType::f32: return MPI_FLOAT;
    case DType::f64: return MPI_DOUBLE;
  }
  __builtin_unreachable();
}

MPI_Op op_of(Kind kind, DType dtype) {
  if (!means_the_same(kind, dtype)) return our_op(kind, dtype);
  switch (kind) {
    case Kind::sum: return MPI_SUM;
    case Kind::product: return MPI_PROD;
    case Kind::min: return MPI_MIN;
    case Kind::max: return MPI_MAX;
    case Kind::band: return MPI_BAND;
    case Kind::bor: return MPI_BOR;
    case Kind::bxor: return MPI_BXOR;
    case Kind::avg:
    case Kind::premul_sum: break;
  }
  fail(Errc::internal, "{} is not an MPI operation: its caller takes it apart", name(kind));
}

}  // namespace dist::mpi
