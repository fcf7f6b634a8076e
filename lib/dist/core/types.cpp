#include "dist/core/types.h"

namespace dist {

std::string_view name(DType dtype) {
  switch (dtype) {
    case DType::u8: return "u8";
    case DType::i8: return "i8";
    case DType::i32: return "i32";
    case DType::i64: return "i64";
    case DType::f16: return "f16";
    case DType::bf16: return "bf16";
    case DType::f32: return "f32";
    case DType::f64: return "f64";
    case DType::boolean: return "bool";
  }
  __builtin_unreachable();
}

bool is_floating_point(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64: return true;
    case DType::u8:
    case DType::i8:
    case DType::i32:
    case DType::i64:
    case DType::boolean: return false;
  }
  __builtin_unreachable();
}

std::string_view name(ReduceOp::Kind kind) {
  switch (kind) {
    case ReduceOp::Kind::sum: return "sum";
    case ReduceOp::Kind::avg: return "avg";
    case ReduceOp::Kind::product: return "product";
    case ReduceOp::Kind::min: return "min";
    case ReduceOp::Kind::max: return "max";
    case ReduceOp::Kind::band: return "band";
    case ReduceOp::Kind::bor: return "bor";
    case ReduceOp::Kind::bxor: return "bxor";
    case ReduceOp::Kind::premul_sum: return "premul_sum";
  }
  __builtin_unreachable();
}

bool is_defined(ReduceOp::Kind kind, DType dtype) {
  switch (kind) {
    case ReduceOp::Kind::sum:
    case ReduceOp::Kind::product:
    case ReduceOp::Kind::min:
    case ReduceOp::Kind::max: return true;
    case ReduceOp::Kind::avg: return dtype != DType::boolean;
    case ReduceOp::Kind::band:
    case ReduceOp::Kind::bor:
    case ReduceOp::Kind::bxor: return !is_floating_point(dtype);
    case ReduceOp::Kind::premul_sum: return is_floating_point(dtype);
  }
  __builtin_unreachable();
}

std::string Device::str() const {
  switch (type) {
    case DeviceType::cpu: return "cpu";
    case DeviceType::cuda: return "cuda:" + std::to_string(index);
  }
  __builtin_unreachable();
}

}  // namespace dist
