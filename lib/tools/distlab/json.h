// What distlab writes as JSON for any program. (For Gradescope: results/.)
#pragma once

#include <string>
#include <vector>

#include "distlab/doctor/doctor.h"
#include "distlab/grading.h"

namespace distlab {

// Without a newline at the end.
std::string as_json(const GradeRecord& record);                  // `grade --json`
std::string as_json(const std::vector<GradeRecord>& records);    // `grade all --json`
std::string as_json(const std::vector<Section>& of_the_doctor);  // `doctor --json`

}  // namespace distlab
