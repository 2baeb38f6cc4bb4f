# Names of ours that a shared library made of our objects doesn't export: libjitgemm.so, or an application's own. Calls
# within it then go straight to their function, which g++ may inline again.

function(jitgemm_hidden)
    set_target_properties(${ARGV} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
