//! `closc export ansible`: an inventory of all switches, and plays that apply their configuration. P4 switches have
//! no play. Neither do systems whose complete configuration would be replaced.

use closc_plan::Plan;
use closc_platform::Os;
use closc_provision::ansible::{self, Device};
use closc_render::Artefact;
use closc_topology::Switch;
use rayon::prelude::*;

use super::configuration::{Source, count_absent};
use super::{list_below, put};
use crate::args::Args;
use crate::args::export::AnsibleArgs;
use crate::input;
use crate::output::{self, Outcome};

pub(super) fn run(args: &Args, command: &AnsibleArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let source = Source::new(plan, command.overlay.as_deref())?;
    let switches: Vec<Switch> = plan.switches().collect();
    let programmed = switches.iter().filter(|switch| plan.os(**switch).is_programmed()).count();
    if programmed > 0 && !args.quiet {
        output::say(format!(
            "note: {programmed} switches run P4: they are in the inventory, but the play does not configure \
             them: use `closc push`"
        ));
    }
    for os in Os::ALL.into_iter().filter(|os| !os.has_play() && !os.is_programmed()) {
        let left = switches.iter().filter(|switch| plan.os(**switch) == os).count();
        if left > 0 && !args.quiet {
            output::say(format!(
                "note: {left} switches run `{}`: they are in the inventory with their files, but the play \
                 does not apply them, because replacing the complete configuration would remove the site's \
                 part, including users",
                os.keyword()
            ));
        }
    }
    let written = switches.par_iter().map(|switch| {
        if plan.os(*switch).is_programmed() {
            return Ok((Vec::new(), (plan.os(*switch), Vec::new())));
        }
        let name = plan.switch_name(*switch);
        let made = source.files(*switch)?;
        // For SONiC, the play merges the configuration into that of the switch.
        let absent = if made.is_sonic { Vec::new() } else { made.absent };
        let files = made.entries.into_iter();
        let artefacts: Vec<Artefact> =
            files.map(|(file, bytes)| Artefact::new(ansible::path(&name, &file), bytes)).collect();
        Ok((put(&command.out, &artefacts)?, (plan.os(*switch), absent)))
    });
    let (files, absent): (Vec<_>, Vec<_>) = written.collect::<anyhow::Result<Vec<_>>>()?.into_iter().unzip();
    let mut files: Vec<String> = files.concat();
    for line in count_absent(absent.iter().map(|(os, absent)| (*os, absent.as_slice()))) {
        if !args.quiet {
            output::say(format!("warning: {line}"));
        }
    }
    let devices: Vec<Device> = switches.iter().map(|switch| device(plan, *switch)).collect();
    files.extend(put(&command.out, &ansible::render(&devices, plan.topology().zones > 1))?);
    list_below(args, &command.out, files)
}

fn device(plan: &Plan, switch: Switch) -> Device {
    Device {
        name: plan.switch_name(switch).to_string(),
        switch,
        os: plan.os(switch),
        address: plan.addresses().management(switch).map(|address| address.addr()),
        platform: plan.topology().hardware(switch).0.id.to_string(),
        loopback: plan.addresses().loopback(switch).ip(),
        asn: plan.routing().speaks_bgp().then(|| plan.addresses().asn(switch)),
    }
}
