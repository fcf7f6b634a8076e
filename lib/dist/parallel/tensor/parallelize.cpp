// parallelize_module: the entries of a plan, matched with modules (Application), and one function for each
// style.
#include "dist/parallel/tensor/parallelize.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/view.h"
#include "dist/nn/row_norms.h"
#include "dist/parallel/replicas.h"
#include "dist/parallel/tensor/column_input.h"
#include "dist/parallel/tensor/hooks.h"
#include "dist/parallel/tensor/record.h"
#include "dist/parallel/tensor/replicated_gradients.h"

namespace dist {

namespace {

// Whether a name is one that the pattern stands for; both are read part by part.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t in_pattern = pattern.find('.'), in_name = name.find('.');
  const std::string_view part = pattern.substr(0, in_pattern);
  if (name.empty() != part.empty() || (part != "*" && part != name.substr(0, in_name))) return false;
  if (in_pattern == std::string_view::npos || in_name == std::string_view::npos) return in_pattern == in_name;
  return matches(pattern.substr(in_pattern + 1), name.substr(in_name + 1));
}

std::string text_of(const ColwiseParallel& style) {
  return fmt::format("ColwiseParallel{{{}, same_input_as \"{}\"}}", to_string(style.input_layout),
                     style.same_input_as);
}
std::string text_of(const RowwiseParallel& style) {
  return fmt::format("RowwiseParallel{{{}}}", to_string(style.output_layout));
}
std::string text_of(const SequenceParallel&) { return "SequenceParallel"; }
std::string text_of(const PrepareModuleInput&) { return "PrepareModuleInput"; }
std::string text_of(const PrepareModuleOutput&) { return "PrepareModuleOutput"; }

class Application {
 public:
  Application(nn::Module& module, const DeviceMesh& mesh, Caller at)
      : modules_(module.named_modules()),
        parameters_(module.named_parameters()),
        mesh_(mesh),
        line_{mesh.get_group(at), mesh.names().front(), at},
        record_(record_of(module)) {
    if (!record_) {
      record_ = std::make_shared<TensorParallelRecord>();
      record_->group = line_.group, record_->where = at;
      record_->parameters = parameters_, record_->trained = trained_of(parameters_);
      module.add_hook(record_);
    }
  }

  void check_start(const ParallelPlan& plan) const {
    std::string text;
    for (const PlanEntry& entry : plan)
      text += fmt::format("the entry \"{}\", {}\n", entry.modules,
                          std::visit([](const auto& style) { return text_of(style); }, entry.style));
    std::vector<nn::NamedParameter> whole = parameters_;
    std::erase_if(whole, [&](const auto& named) { return placed_of(*named.parameter) != nullptr; });
    dist::check_start("parallelize_module", whole, text, mesh_, line_.where);
  }

  void apply(const PlanEntry& entry) {
    bool is_used = false;
    for (const auto& [name, module] : modules_) {
      if (!matches(entry.modules, name)) continue;
      is_used = true;
      name_ = name;
      if (!name.empty()) line_.layer = name;
      line_.where = line_.where.in(line_.layer);
      if (std::ranges::find(record_->modules, module) != record_->modules.end())
        refuse("a plan has named it before; a module is divided once");
      record_->modules.push_back(module);
      std::visit([&, module = module](const auto& style) { apply(*module, style); }, entry.style);
    }
    if (!is_used)
      fail(Errc::invalid_argument, "parallelize_module at {}: no module is named \"{}\"", line_.where.str(),
           entry.modules);
  }

  // What the plan leaves to every rank has one gradient, once it has been summed.
  void watch_gradients() const {
    std::vector<nn::NamedParameter> replicated;
    for (const nn::NamedParameter& named : parameters_) {
      const Placed* const placed = placed_of(*named.parameter);
      if (!placed || placed->axes[0].placement == Placement(Replicate())) replicated.push_back(named);
      named.parameter->before_step({});
    }
    compare_before_step(replicated, line_);
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(Errc::invalid_argument, "parallelize_module at {}: {}: {}", line_.where.str(), name_,
         fmt::format(format, std::forward<Args>(args)...));
  }

  void apply(nn::Module& module, const ColwiseParallel& style) {
    auto* const linear = dynamic_cast<nn::Linear*>(&module);
    if (!linear) refuse("ColwiseParallel divides a Linear, not {}", module.str());
    refuse_lora(*linear);
    const std::vector<std::int64_t> parts = parts_of(*linear);
    split(linear->weight(), 0, parts);
    if (linear->bias()) split(*linear->bias(), 0, parts);
    const bool is_sequence = is_time(style.input_layout);
    auto& input = inputs_[style.same_input_as.empty() ? name_ : sibling(style.same_input_as)];
    if (!input) {
      if (!style.same_input_as.empty())
        refuse("same_input_as \"{}\" is not a column-parallel layer before it", style.same_input_as);
      input = std::make_shared<ColumnInput>(line_, is_sequence);
    }
    linear->add_hook(std::make_shared<ColumnHook>(*linear, input));
  }

  void apply(nn::Module& module, const RowwiseParallel& style) {
    const bool to_sequence = is_time(style.output_layout);
    if (auto* const linear = dynamic_cast<nn::Linear*>(&module)) {
      refuse_lora(*linear);
      split(linear->weight(), 1, {linear->weight().value.size(1)});
      linear->set_adds_bias(line_.rank() == 0);
    } else if (auto* const embedding = dynamic_cast<nn::Embedding*>(&module)) {
      const std::int64_t rows = embedding->weight().value.size(0);
      split(embedding->weight(), 0, {rows});
      embedding->set_slice(torch_chunk_begin(rows, line_.rank(), line_.size()), rows);
    } else {
      refuse("RowwiseParallel divides a Linear or an Embedding, not {}", module.str());
    }
    module.add_hook(std::make_shared<SumOutput>(line_, to_sequence));
  }

  void apply(nn::Module& module, const SequenceParallel&) {
    if (dynamic_cast<nn::Dropout*>(&module)) {
      module.add_hook(std::make_shared<DropPartOfTime>(line_));
      return;
    }
    const bool is_embedding = dynamic_cast<nn::Embedding*>(&module) != nullptr;
    if (!is_embedding && !dynamic_cast<nn::LayerNorm*>(&module))
      refuse("SequenceParallel is for norms, Dropout and an Embedding of positions, not {}", module.str());
    for (const auto& [name, parameter] : module.named_parameters()) {
      record(*parameter).grad_placement = Partial();
      record_->partial.push_back(parameter);
    }
    if (is_embedding) module.add_hook(std::make_shared<SplitPositions>(line_));
  }

  void apply(nn::Module& module, const PrepareModuleInput&) {
    module.add_hook(std::make_shared<GatherInput>(line_));
  }
  void apply(nn::Module& module, const PrepareModuleOutput&) {
    module.add_hook(std::make_shared<SplitOutput>(line_));
  }

  void refuse_lora(const nn::Linear& linear) const {
    if (linear.has_lora())
      refuse(
          "it has LoRA, which is not divided; call merge_lora() first, or divide the model by fully_shard()");
  }

  bool is_time(const Placement& layout) const {
    if (layout == Placement(Shard(1))) return true;
    if (layout != Placement(Replicate()))
      refuse("a layout of {}; it can be Replicate() or Shard(1)", to_string(layout));
    return false;
  }

  std::string parent() const {
    const std::size_t dot = name_.rfind('.');
    return dot == std::string::npos ? "" : name_.substr(0, dot);
  }
  std::string sibling(const std::string& name) const {
    return parent().empty() ? name : parent() + '.' + name;
  }

  // The sizes of the parts of a column-parallel layer's rows, each of which is divided on its own.
  std::vector<std::int64_t> parts_of(nn::Linear& linear) const {
    const auto at = std::ranges::find(modules_, parent(), &nn::Module::NamedModule::name);
    auto* const attention =
        at == modules_.end() ? nullptr : dynamic_cast<nn::CausalSelfAttention*>(at->module);
    if (!attention || &attention->c_attn() != &linear) return {linear.weight().value.size(0)};
    const std::int64_t heads = attention->heads(), kv_heads = attention->kv_heads(), ranks = line_.size();
    for (const auto& [count, what] : {std::pair{heads, ""}, std::pair{kv_heads, " of keys and values"}})
      if (count % ranks != 0)
        refuse("{}{} cannot be divided among the {} ranks of {}; use a divisor of {} as the number of ranks",
               counted(count, "head"), what, ranks, line_.axis, count);
    attention->set_first_head(heads / ranks * line_.rank());
    const std::int64_t size = attention->head_size();
    return {heads * size, kv_heads * size, kv_heads * size};
  }

  // The axis of the parameter's record for these ranks, which is its first one.
  PlacedAxis& record(nn::Parameter& parameter) {
    if (std::ranges::find(parameters_, &parameter, &nn::NamedParameter::parameter) == parameters_.end())
      refuse("its parameter belongs to a module outside; parallelize a module that has both");
    Placed& placed = place(parameter);
    if (placed.axes.empty())
      placed.axes.push_back(
          {.name = line_.axis, .group = line_.group, .remedy = "call finish_gradients() first"});
    if (placed.axes[0].group.name() != line_.group.name() || placed.axes.size() > 1)
      refuse("\"{}\" has been divided along {} before; call parallelize() first", parameter.name,
             placed.axes.back().name);
    return placed.axes[0];
  }

  // A tied parameter is divided for its first layer, and is then the second one's, too.
  void split(nn::Parameter& parameter, std::int64_t axis, std::vector<std::int64_t> parts) {
    PlacedAxis& along = record(parameter);
    if (along.placement == Placement(Shard(axis))) return;
    along.placement = along.grad_placement = Shard(axis);
    along.parts = std::move(parts);
    const Placed& placed = *placed_of(parameter);
    parameter.value = placed.part_along(0, parameter.value, line_.rank());
    if (parameter.grad.is_defined()) parameter.grad = placed.part_along(0, parameter.grad, line_.rank());
  }

  const std::vector<nn::Module::NamedModule> modules_;
  const std::vector<nn::NamedParameter> parameters_;
  const DeviceMesh mesh_;
  TensorLine line_;  // with the name of the module that is divided
  std::shared_ptr<TensorParallelRecord> record_;
  std::map<std::string, std::shared_ptr<ColumnInput>> inputs_;  // by the name of the first layer
  std::string name_;                                            // of the module that is divided
};

}  // namespace

void parallelize_module(nn::Module& module, const DeviceMesh& mesh, const ParallelPlan& plan, Caller at) {
  if (mesh.dim() != 1)
    fail(Errc::invalid_argument,
         "parallelize_module at {}: a mesh of one axis is expected, not ({}); mesh[\"tp\"] is one", at.str(),
         mesh.str());
  if (!mesh.is_member()) return;
  Application application(module, mesh, at);
  application.check_start(plan);
  for (const PlanEntry& entry : plan) application.apply(entry);
  application.watch_gradients();
}

void parallelize(nn::GPT& gpt, const DeviceMesh& mesh, const GptParallelOptions& options, Caller at) {
  parallelize_module(gpt, mesh, plan_of(gpt, options), at);
}

}  // namespace dist
