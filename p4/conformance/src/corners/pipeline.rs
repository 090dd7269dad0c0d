//! Pipelines and capabilities: sections 14, 15 and 17.

use closc_runtime::proto::v1;
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::set_forwarding_pipeline_config_request::Action;

use super::List;
use crate::make::{DROP, exact};
use crate::section::Section;
use crate::step::{Config, DENIED, INVALID, NOT_FOUND, OK, Sender, Step, accept, optional, read, set};

/// A device that no server is likely to have.
const NO_DEVICE: u64 = 0x7fff_ffff_ffff_fff1;

pub(super) fn add(list: &mut List<'_>) {
    actions(list);
    refusals(list);
    senders(list);
    saves(list);
    responses(list);
    capabilities(list);
}

fn actions(list: &mut List<'_>) {
    let section = Section::SetPipeline;
    list.add(section, "pipeline-verify", "VERIFY changes nothing", |maker| {
        let entry = maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?;
        Ok(vec![
            accept(v1::Update::insert(entry.clone())),
            set(Action::Verify, Config::Whole(77), OK),
            Step::GetPipeline(ResponseType::CookieOnly, (false, false, Some(1))),
            read(maker.all("exact_dst")?, [entry.into()]),
        ])
    });
    list.add(section, "pipeline-verify-and-commit", "VERIFY_AND_COMMIT begins without entries", |maker| {
        let entry = maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?;
        Ok(vec![
            accept(v1::Update::insert(entry)),
            set(Action::VerifyAndCommit, Config::Whole(78), OK),
            read(maker.all("exact_dst")?, []),
            Step::GetPipeline(ResponseType::CookieOnly, (false, false, Some(78))),
        ])
    });
    list.add(section, "pipeline-reconcile", "RECONCILE_AND_COMMIT keeps the entries", |maker| {
        let entry = maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?;
        Ok(vec![
            accept(v1::Update::insert(entry.clone())),
            optional(set(Action::ReconcileAndCommit, Config::Whole(79), OK)),
            read(maker.all("exact_dst")?, [entry.into()]),
            Step::GetPipeline(ResponseType::CookieOnly, (false, false, Some(79))),
        ])
    });
}

fn refusals(list: &mut List<'_>) {
    let section = Section::SetPipeline;
    let mut refused = |id, rule, action, config| {
        list.add(section, id, rule, move |maker| {
            let entry = maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?;
            Ok(vec![
                accept(v1::Update::insert(entry.clone())),
                set(action, config, INVALID),
                read(maker.all("exact_dst")?, [entry.into()]),
            ])
        });
    };
    let commit = Action::VerifyAndCommit;
    refused(
        "pipeline-no-action",
        "a request without an action is INVALID_ARGUMENT",
        Action::Unspecified,
        Config::Whole(1),
    );
    refused("pipeline-no-config", "VERIFY_AND_COMMIT has a configuration", commit, Config::None);
    refused("pipeline-verify-no-config", "VERIFY has a configuration", Action::Verify, Config::None);
    refused(
        "pipeline-broken",
        "a program that cannot be realized is INVALID_ARGUMENT",
        commit,
        Config::Broken,
    );
    refused(
        "pipeline-verify-broken",
        "VERIFY finds a program that cannot be realized",
        Action::Verify,
        Config::Broken,
    );
    refused("pipeline-no-p4info", "a configuration has a P4Info", commit, Config::NoInfo);
    refused(
        "pipeline-inconsistent",
        "a P4Info whose ids are not unique is INVALID_ARGUMENT",
        commit,
        Config::Inconsistent,
    );
}

fn senders(list: &mut List<'_>) {
    let section = Section::SetPipeline;
    list.add(section, "pipeline-action-unknown", "an action that does not exist is refused", |_| {
        Ok(vec![Step::SetPipeline(Sender::primary(), 9, Config::Whole(1), INVALID)])
    });
    list.add(
        section,
        "pipeline-not-primary",
        "a controller that is not primary is PERMISSION_DENIED",
        |_| {
            let commit = Action::VerifyAndCommit.into();
            let by = |election| Sender { election, ..Sender::default() };
            Ok(vec![
                Step::SetPipeline(by(Some(-1)), commit, Config::Whole(1), DENIED),
                Step::SetPipeline(by(None), commit, Config::Whole(1), DENIED),
            ])
        },
    );
    list.add(section, "pipeline-unknown-device", "a device that does not exist is NOT_FOUND", |_| {
        let sender = Sender { device: Some(NO_DEVICE), ..Sender::primary() };
        let commit = Action::VerifyAndCommit.into();
        Ok(vec![Step::SetPipeline(sender, commit, Config::Whole(1), NOT_FOUND)])
    });
}

fn saves(list: &mut List<'_>) {
    let section = Section::SetPipeline;
    list.add(section, "pipeline-save-and-commit", "COMMIT runs the configuration that was saved", |_| {
        Ok(vec![
            optional(set(Action::VerifyAndSave, Config::Whole(80), OK)),
            set(Action::Commit, Config::None, OK),
            Step::GetPipeline(ResponseType::CookieOnly, (false, false, Some(80))),
        ])
    });
    list.add(section, "pipeline-commit-nothing", "COMMIT without a saved configuration is NOT_FOUND", |_| {
        Ok(vec![optional(set(Action::Commit, Config::None, NOT_FOUND))])
    });
    list.add(section, "pipeline-commit-with-config", "COMMIT takes no configuration", |_| {
        Ok(vec![
            optional(set(Action::VerifyAndSave, Config::Whole(80), OK)),
            set(Action::Commit, Config::Whole(81), INVALID),
        ])
    });
}

fn responses(list: &mut List<'_>) {
    let section = Section::GetPipeline;
    let mut shows = |id, rule, parts, expected| {
        list.add(section, id, rule, move |_| Ok(vec![Step::GetPipeline(parts, expected)]));
    };
    shows("get-all", "ALL returns P4Info, program and cookie", ResponseType::All, (true, true, Some(1)));
    shows(
        "get-cookie",
        "COOKIE_ONLY returns the cookie alone",
        ResponseType::CookieOnly,
        (false, false, Some(1)),
    );
    shows(
        "get-p4info",
        "P4INFO_AND_COOKIE returns no program",
        ResponseType::P4infoAndCookie,
        (true, false, Some(1)),
    );
    shows(
        "get-program",
        "DEVICE_CONFIG_AND_COOKIE returns no P4Info",
        ResponseType::DeviceConfigAndCookie,
        (false, true, Some(1)),
    );
    list.add(section, "get-unknown-device", "a device that does not exist is NOT_FOUND", |_| {
        Ok(vec![Step::GetPipelineFails(Some(NO_DEVICE), 0, NOT_FOUND)])
    });
    list.add(section, "get-unknown-type", "a response type that does not exist is INVALID_ARGUMENT", |_| {
        Ok(vec![Step::GetPipelineFails(None, 9, INVALID)])
    });
}

fn capabilities(list: &mut List<'_>) {
    let section = Section::Capabilities;
    list.add(section, "capabilities-device", "a device states the version of its API", |maker| {
        // The read shows that the server knows the device of the run.
        Ok(vec![optional(Step::Capabilities(0, OK)), Step::ReadCount(maker.all("exact_dst")?.into(), 0)])
    });
    list.add(section, "capabilities-unknown-device", "a device that does not exist is NOT_FOUND", |_| {
        Ok(vec![optional(Step::Capabilities(NO_DEVICE, NOT_FOUND))])
    });
}
